import { hostname } from 'node:os';
import { leaseStore as processLeases } from '../../../db/engine/leases.store.ts';
import { atExpiry, steadiness } from '../../../db/engine/leases.ts';
import { isPassing } from '../../../db/engine/repetition.ts';
import type { Database, Log } from '../../../db/index.ts';
import { newId } from '../../../lib/ids.ts';
import { oneAtATime } from '../../../lib/one-at-a-time.ts';
import { leaseStore } from './leases.store.ts';

export interface LeaseDeps {
  readonly db: Database;
  readonly log: Log;
  readonly ttlMs: number;
  /** The ids of the deliveries that this process attempts. */
  readonly held: () => string[];
  /** Called with endpoints whose deliveries are due again. */
  readonly onReturned: (endpointIds: readonly string[]) => void;
}

/** The right of this process to attempt what it claims. When it ends, others attempt that, and what this process records is ignored. */
export interface Lease {
  readonly id: () => string;
  /** Whether attempts may start: the lease was renewed so recently that nobody can have ended it. */
  readonly isSafe: () => boolean;
  start(): Promise<void>;
  /** Asks for a comparison of what is claimed with what this process holds: the answer to a claim was lost. */
  compare(): void;
  /** Ends the lease; what is still claimed under it is due again at once. */
  stop(): Promise<void>;
}

/** How often the lease is renewed in its time. */
const beats = 5;
const compareMs = 10_000;
const shortCompareMs = 5_500;
/** How far into its time the lease counts as safe. */
const safePart = 0.8;

export function createLease({ db, log, ttlMs, held, onReturned }: LeaseDeps): Lease {
  const alone = db.engine === 'pglite';
  const steady = steadiness(ttlMs);
  const leases = processLeases(db.background);
  const deliveries = leaseStore(db.background);
  let id = newId('lease');
  let renewedAt = -Infinity;
  let compareAt = performance.now() + compareMs;
  let timer: NodeJS.Timeout | undefined;
  const everyMs = ttlMs / beats;
  const expiry = atExpiry(() => void beat.run());

  async function renew(): Promise<void> {
    const began = performance.now();
    if ((await leases.renew(id, ttlMs)) === undefined) {
      log.warn({ lease: id }, 'the lease of the deliveries has ended: another one begins');
      id = newId('lease');
      await take();
    }
    renewedAt = began;
  }

  async function take(): Promise<void> {
    const began = performance.now();
    const worker = `${hostname()}:${process.pid}`.slice(0, 128);
    await leases.create({ id, kind: 'process', tenant: 'default', app: 'default', worker, ttlMs });
    renewedAt = began;
  }

  /** After an outage every living process has time to renew its lease before the others are ended. */
  async function reap(): Promise<void> {
    if (!steady(renewedAt, performance.now())) return;
    expiry.in((await leases.endExpired({ graceMs: 0, soonMs: everyMs })).nextMs);
    onReturned(await deliveries.putBackLost());
  }

  const beat = oneAtATime(async () => {
    try {
      if (!alone) await renew();
      if (!alone) await reap();
      if (performance.now() < compareAt) return;
      compareAt = performance.now() + compareMs;
      onReturned(await deliveries.putBackStrays(id, held()));
    } catch (error) {
      if (!isPassing(error)) log.error({ err: error }, 'the lease of the deliveries could not be renewed');
    }
  });

  return {
    id: () => id,
    isSafe: () => alone || performance.now() - renewedAt < ttlMs * safePart,
    async start() {
      if (alone) await deliveries.putBackAll();
      else await take();
      timer = setInterval(() => void beat.run(), everyMs).unref();
    },
    compare: () => void (compareAt = Math.min(compareAt, performance.now() + shortCompareMs)),
    async stop() {
      clearInterval(timer);
      await beat.settled();
      expiry.stop();
      onReturned(await deliveries.release(id).catch(() => []));
    },
  };
}
