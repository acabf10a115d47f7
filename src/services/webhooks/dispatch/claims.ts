import { isPassing } from '../../../db/engine/repetition.ts';
import type { Database, Log } from '../../../db/index.ts';
import { oneAtATime } from '../../../lib/one-at-a-time.ts';
import { claim, type ClaimedLane } from './claim.store.ts';
import { LaneQueue, type Turn } from './lane-queue.ts';
import { laneStore } from './lanes.store.ts';
import type { Lease } from './lease.ts';
import { ParkedLanes } from './parked-lanes.ts';
import type { Work } from './work.ts';

export interface ClaimsDeps {
  readonly db: Database;
  readonly log: Log;
  readonly lease: Pick<Lease, 'id' | 'isSafe' | 'compare'>;
  readonly work: Pick<Work, 'begin' | 'places' | 'isFull'>;
}

/** Claims due deliveries, as many as there are places, and lets their attempts begin. */
export interface Claims {
  /** Looks at these lanes, and at those whose turn it was but for which there was no place. */
  look(endpointIds: readonly string[]): void;
  start(): void;
  stop(): Promise<void>;
}

/** The most deliveries of one claim, and the most lanes that it looks at. */
const mostPerClaim = 256;
const mostLanes = 256;
/** The most lanes of which a process remembers that they exist. */
const mostKnown = 100_000;

export function createClaims({ db, log, lease, work }: ClaimsDeps): Claims {
  const queue = new LaneQueue();
  /** Lanes of tenants that have taken their share of the places, and those of unproven receivers, which have a share of their own. */
  const parked = new ParkedLanes();
  const parkedUnproven = new ParkedLanes();
  const known = new Set<string>();
  let running = false;
  let timer: NodeJS.Timeout | undefined;

  const claims = oneAtATime(() =>
    claimDue().catch((error: unknown) => {
      lease.compare();
      if (!isPassing(error)) log.error({ err: error }, 'deliveries could not be claimed');
    }),
  );

  /** Claims at the moment of the next look. */
  function wake(): void {
    const { places } = work;
    const isParkedNext = parked.isNext(places) || parkedUnproven.isNext(places.unproven);
    const next = isParkedNext ? -Infinity : queue.next();
    clearTimeout(timer);
    if (!running || next === undefined || work.isFull()) return;
    const wait = next - performance.now();
    if (wait <= 0) void claims.run();
    else timer = setTimeout(() => void claims.run(), Math.ceil(wait)).unref();
  }

  async function claimDue(): Promise<void> {
    if (!running || work.isFull() || !lease.isSafe()) return;
    const now = performance.now();
    for (const endpointId of parkedUnproven.take(work.places.unproven)) queue.add(endpointId, now, now);
    for (const endpointId of parked.take(work.places)) queue.add(endpointId, now, now);
    const asked = queue.take(mostLanes, now);
    if (asked.length > 0) await claimOf(asked);
    wake();
  }

  async function claimOf(asked: readonly Turn[]): Promise<void> {
    await createMissing(asked.map(({ endpointId }) => endpointId));
    const { places } = work;
    const lanes = await claim(db.background, {
      leaseId: lease.id(),
      lanes: asked,
      count: Math.min(places.atOnce, mostPerClaim),
      shares: {
        left: places.left,
        rules: places.rules,
        unproven: places.unproven.left,
        unprovenOfTenant: places.mostUnprovenOfTenant,
        inFlight: places.loads(),
      },
    });
    const seen = new Set(lanes.map(({ endpointId }) => endpointId));
    for (const { endpointId } of asked) if (!seen.has(endpointId)) missed(endpointId);
    for (const lane of lanes) {
      queue.looked(lane);
      work.begin(lane);
    }
    for (const lane of lanes) lookAgain(lane);
  }

  /** A lane that a claim left out is locked, or it is gone with its endpoint. */
  function missed(endpointId: string): void {
    known.delete(endpointId);
    queue.missed(endpointId, performance.now());
  }

  async function createMissing(endpointIds: readonly string[]): Promise<void> {
    const missing = endpointIds.filter((id) => !known.has(id));
    if (missing.length === 0) return;
    await laneStore(db.background).create(missing);
    if (known.size > mostKnown) known.clear();
    for (const id of missing) known.add(id);
  }

  /** A lane whose window is full is looked at again when an attempt has ended. */
  function lookAgain({ endpointId, tenantId, target, more, left, waitMs }: ClaimedLane): void {
    if (!more || left <= 0) return;
    const now = performance.now();
    const { places } = work;
    const mayStart = (waitMs ?? 0) === 0;
    if (mayStart && target.is_unproven && places.unproven.leftOf(tenantId) === 0)
      parkedUnproven.park(endpointId, tenantId);
    else if (mayStart && places.leftOf(tenantId) === 0) parked.park(endpointId, tenantId);
    else queue.add(endpointId, now + (waitMs ?? 0), now);
  }

  return {
    look(endpointIds) {
      const now = performance.now();
      for (const id of endpointIds) if (!parked.has(id) && !parkedUnproven.has(id)) queue.add(id, now, now);
      wake();
    },
    start: () => void (running = true),
    async stop() {
      running = false;
      clearTimeout(timer);
      await claims.settled();
    },
  };
}
