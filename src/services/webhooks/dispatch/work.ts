import { setTimeout as delay } from 'node:timers/promises';
import type { Claimed, ClaimedLane, Target } from './claim.store.ts';
import { Places } from './places.ts';
import { createSender, type SenderDeps } from './sender.ts';
import { createSettler, type SettlerDeps } from './settler.ts';

export type WorkDeps = SenderDeps &
  Omit<SettlerDeps, 'disableAfterMs'> & {
    /** Milliseconds for which attempts may go on when the process ends. */
    readonly drainMs?: number | undefined;
    /** Called when an attempt has ended, with the endpoint if more of its deliveries may be due. */
    readonly onPlace: (endpointIds: readonly string[]) => void;
  };

/** The attempts that this process makes. */
export interface Work {
  begin(lane: ClaimedLane): void;
  readonly places: Places;
  isFull(): boolean;
  /** Whether an end of an attempt will tell that more deliveries of the endpoint may be due. */
  hasMore(endpointId: string): boolean;
  /** The ids of the deliveries that are attempted or whose end is to be recorded. */
  held(): string[];
  /** Waits for what is in flight, and gives the rest up after a while. */
  stop(): Promise<void>;
}

export function createWork(deps: WorkDeps): Work {
  const { settings, onPlace, drainMs = 10_000 } = deps;
  const send = createSender(deps);
  const settler = createSettler({ ...deps, disableAfterMs: settings.disableAfterMs });
  const held = new Set<Promise<void>>();
  const ids = new Map<string, string>();
  /** Attempts that have not ended, by endpoint, and which endpoints may have more due. */
  const perLane = new Map<string, number>();
  const backlog = new Set<string>();
  const places = new Places(settings.concurrency);
  let givenUp = false;

  async function run(delivery: Claimed, target: Target): Promise<void> {
    const holder = {
      tenantId: delivery.tenant_id,
      isUnproven: target.is_unproven,
      bytes: delivery.data?.length ?? 0,
    };
    places.take(holder);
    const ended = await send(delivery, target);
    places.giveBack(holder);
    onPlace([]);
    // What is cut off at the end says nothing about the receiver.
    if (!givenUp) await settler.settle(ended).catch(() => {});
  }

  function begin(delivery: Claimed, target: Target): void {
    const { id, endpoint_id } = delivery;
    ids.set(id, endpoint_id);
    perLane.set(endpoint_id, (perLane.get(endpoint_id) ?? 0) + 1);
    const one = run(delivery, target).finally(() => {
      held.delete(one);
      ids.delete(id);
      const left = perLane.get(endpoint_id)! - 1;
      if (left === 0) perLane.delete(endpoint_id);
      else perLane.set(endpoint_id, left);
      onPlace(backlog.has(endpoint_id) ? [endpoint_id] : []);
      if (left === 0) backlog.delete(endpoint_id);
    });
    held.add(one);
  }

  const isFull = () => places.left === 0 || settler.isFull();

  return {
    begin({ endpointId, more, follows, target, deliveries }) {
      if (more || follows) backlog.add(endpointId);
      else backlog.delete(endpointId);
      for (const delivery of deliveries) begin(delivery, target);
      if (!perLane.has(endpointId)) backlog.delete(endpointId);
    },
    places,
    isFull,
    hasMore: (endpointId) => backlog.has(endpointId),
    held: () => [...ids.keys()],
    async stop() {
      const over = new AbortController();
      const late = delay(drainMs, undefined, { signal: over.signal }).catch(() => {});
      await Promise.race([Promise.all(held), late]);
      over.abort();
      givenUp = true;
      await settler.close(1_000);
    },
  };
}
