import type { AuditEvent } from '../../../../generated/audit/types.ts';
import { windowOf } from '../../../http/lists.ts';
import type { Deps } from '../deps.ts';
import { eventStore, type EventFilter, orders, type Place } from './events.store.ts';
import { eventPage } from './pages.ts';
import { eventViews } from './views.ts';

/** The events of one statement of an export: few, because an event may have 64 KiB. */
const pageSize = 200;

/** The events that match, oldest first, read page by page while they are sent. */
export async function* allEvents(
  { db, sealer }: Pick<Deps, 'db' | 'sealer'>,
  places: readonly Place[],
  filter: EventFilter,
): AsyncGenerator<AuditEvent> {
  for (let cursor: string | undefined; ;) {
    const window = windowOf({ limit: pageSize, cursor }, orders.asc);
    const { items, next } = eventPage(window, await eventStore(db.sql).list(places, filter, window));
    yield* await eventViews({ db, sealer }, items);
    if (next === null) return;
    cursor = next;
  }
}
