import type { ReplayInput } from '../../../../generated/webhooks/types.ts';
import type { View } from '../../../db/view.ts';
import { Invalid } from '../../../lib/errors.ts';
import type { Write } from '../writes.ts';
import { type DeadLetterFilter, deadLetterStore, type Replayed } from './dead-letters.store.ts';

/** The most dead letters that one request replays by a filter. */
const mostReplayed = 1_000;

/** What came of a request for many. */
export interface ReplayOutcome {
  readonly made: readonly Replayed[];
  readonly not_found: string[];
  readonly remaining: number;
}

/** @throws Invalid for both ids and a filter, or for neither */
export function checkChoice({ ids, endpoint_id, event_type, from, to }: ReplayInput): void {
  const isFiltered = [endpoint_id, event_type, from, to].some((value) => value !== undefined);
  if (ids !== undefined && isFiltered)
    throw Invalid('ids: cannot be combined with endpoint_id, event_type, from and to');
  if (ids === undefined && !isFiltered)
    throw Invalid('ids: required, unless there is an endpoint_id, event_type, from or to');
}

/** Replays the dead letters with these ids, or the oldest that match the filter. */
export async function replayChosen(
  tx: Write,
  view: View,
  chosen: readonly string[] | DeadLetterFilter,
): Promise<ReplayOutcome> {
  if (isIds(chosen)) {
    const ids = [...new Set(chosen)];
    const made = await replay(tx, view, ids);
    const replayed = new Set(made.map(({ letterId }) => letterId));
    return { made, not_found: ids.filter((id) => !replayed.has(id)), remaining: 0 };
  }
  const store = deadLetterStore(tx.sql);
  const made = await replay(tx, view, await store.oldest(view, chosen, mostReplayed));
  return { made, not_found: [], remaining: await store.matching(view, chosen) };
}

/** Replaces dead letters with new deliveries. Those that are not found are left out. */
export async function replay({ sql, emit }: Write, view: View, ids: readonly string[]): Promise<Replayed[]> {
  if (ids.length === 0) return [];
  const made = await deadLetterStore(sql).replay(view, ids);
  for (const { letterId: id, delivery } of made)
    emit('webhooks.dlq.replayed', { id, tenant_id: delivery.tenant_id }, { id, delivery });
  return made;
}

const isIds = (chosen: readonly string[] | DeadLetterFilter): chosen is readonly string[] =>
  Array.isArray(chosen);
