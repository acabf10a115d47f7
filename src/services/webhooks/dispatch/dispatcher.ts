import { createHints } from '../../../db/hints.ts';
import { createOutbound, type Outbound } from '../../../lib/outbound.ts';
import type { Deps } from '../deps.ts';
import { createClaims } from './claims.ts';
import { createLease } from './lease.ts';
import { createPolls } from './polls.ts';
import { createWork } from './work.ts';

export type DispatcherDeps = Pick<Deps, 'db' | 'sealing' | 'settings' | 'log' | 'allowPrivateTargets'> & {
  readonly outbound?: Outbound;
  /** Milliseconds after which the deliveries of a process that has vanished are attempted again. */
  readonly leaseMs?: number;
  /** Milliseconds between two looks for deliveries of which no hint told; an idle process looks up to four times less often. */
  readonly pollMs?: number;
  /** Milliseconds for which attempts may go on when the process ends. */
  readonly drainMs?: number;
};

/** Brings deliveries to their endpoints: those of all tenants, together with the dispatchers of other processes. */
export interface Dispatcher {
  /** Says, after the commit, which endpoints have deliveries that are due. */
  hint(endpointIds: readonly string[]): void;
  start(): Promise<void>;
  /** Starts no more attempts, and waits up to ten seconds for those in flight. */
  stop(): Promise<void>;
}

export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { db, log, settings, leaseMs = 5_000, pollMs = 500 } = deps;
  const hints = createHints({ db, log, channel: 'webhooks' });
  const hint = (ids: readonly string[]) => hints.give(new Set(ids));
  if (settings.dispatch === 'off') return { hint, start: () => Promise.resolve(), stop: () => hints.stop() };
  const outbound =
    deps.outbound ??
    createOutbound({ allowPrivate: deps.allowPrivateTargets, allowNetworks: [], connectMs: 5_000 });
  const work = createWork({ ...deps, outbound, onPlace: (ids) => claims.look(ids) });
  const lease = createLease({
    db,
    log,
    ttlMs: leaseMs,
    held: () => work.held(),
    onReturned: hint,
  });
  const claims = createClaims({ db, log, lease, work });
  // What an attempt in flight will tell need not be looked for.
  const onDue = (ids: readonly string[]) => claims.look(ids.filter((id) => !work.hasMore(id)));
  const polls = createPolls({ db, log, pollMs, onDue });
  let unlisten = () => {};

  function onHint(endpointIds: Iterable<string> | undefined): void {
    polls.stir();
    if (endpointIds === undefined) polls.run();
    else claims.look([...endpointIds]);
  }

  return {
    hint,
    async start() {
      await lease.start();
      claims.start();
      unlisten = hints.listen(onHint);
      polls.start();
    },
    async stop() {
      unlisten();
      await Promise.all([polls.stop(), claims.stop()]);
      await work.stop();
      await lease.stop();
      await hints.stop();
      await outbound.close();
    },
  };
}
