import { emit, type Event } from '../../../db/outbox.ts';
import type { Sql } from '../../../db/index.ts';
import { endingStore, type DisabledEndpoint } from './endings.store.ts';
import { afterAttempt, disablingOf, type Disabling } from './lanes.ts';
import { laneStore, type LockedLane } from './lanes.store.ts';
import type { Settled } from './settle.store.ts';
import type { Ended } from './settler.ts';

interface Ends {
  /** The deliveries whose attempt counted. */
  readonly settled: readonly Settled[];
  readonly list: readonly Ended[];
  readonly disableAfterMs: number;
}

type Disablings = Map<string, Exclude<Disabling, null>>;

/** Records what attempts say about their lanes, disables endpoints, and notes the events. In the transaction that settled them. */
export async function recordEnds(sql: Sql, { settled, list, disableAfterMs }: Ends): Promise<void> {
  const ends = new Map(list.map((ended) => [ended.delivery.id, ended]));
  const counted = settled.map((one) => ({ ...one, ended: ends.get(one.id)! }));
  const locked = await laneStore(sql).lock([...new Set(counted.map(({ endpoint_id }) => endpoint_id))]);
  const disablings: Disablings = new Map();
  const changed = locked.map((lane) =>
    afterAll(
      lane,
      counted.filter(({ endpoint_id }) => endpoint_id === lane.endpoint_id).map(({ ended }) => ended),
      { disableAfterMs, disablings },
    ),
  );
  const [disabled] = await Promise.all([
    disablings.size === 0 ? [] : endingStore(sql).disable(disablings),
    changed.length > 0 && laneStore(sql).update(changed),
  ]);
  // An event about the delivery of such an event would be delivered, too, and fail again.
  const silent = new Set(
    counted
      .filter(({ event_type }) => event_type.startsWith('webhooks.'))
      .map(({ endpoint_id }) => endpoint_id),
  );
  const [first, ...rest] = [
    ...counted.filter(isReported).map(failedEvent),
    ...disabled.filter(({ id }) => !silent.has(id)).map(disabledEvent),
  ];
  if (first !== undefined) await emit(sql, first, ...rest);
}

/** The lane after its attempts, one after the other. */
function afterAll(
  lane: LockedLane,
  ends: readonly Ended[],
  { disableAfterMs, disablings }: { readonly disableAfterMs: number; readonly disablings: Disablings },
): LockedLane {
  const rules = { maxConcurrency: lane.max_concurrency, disableAfterMs };
  return ends.reduce<LockedLane>((state, { outcome }) => {
    const next = { ...state, ...afterAttempt(state, outcome.lane, rules, lane.now, Math.random()) };
    const disabling = disablingOf(next, outcome.lane, rules, lane.now);
    if (disabling !== null) disablings.set(lane.endpoint_id, disabling);
    return next;
  }, lane);
}

type Counted = Settled & { readonly ended: Ended };

const isReported = ({ dlq_id, event_type }: Counted): boolean =>
  dlq_id !== null && !event_type.startsWith('webhooks.');

const failedEvent = ({ ended: { outcome, target }, ...settled }: Counted): Event => ({
  source: '/webhooks',
  type: 'webhooks.delivery.failed',
  subject: settled.endpoint_id,
  tenant: settled.tenant_id,
  app: settled.app_id,
  actor: 'system',
  data: {
    id: settled.dlq_id,
    delivery_id: settled.id,
    event_id: settled.event_id,
    endpoint_id: settled.endpoint_id,
    event_type: settled.event_type,
    tenant_id: settled.tenant_id,
    url: target.url,
    error: outcome.error,
    attempt_count: settled.attempt_count,
    last_status_code: outcome.statusCode,
    failed_at: settled.now,
    created_at: settled.now,
  },
});

const disabledEvent = (endpoint: DisabledEndpoint): Event => ({
  source: '/webhooks',
  type: 'webhooks.endpoint.disabled',
  subject: endpoint.id,
  tenant: endpoint.tenant_id,
  app: endpoint.app_id,
  actor: 'system',
  data: endpoint,
});
