import { pageOf, type Page } from '../../../http/lists.ts';
import type { Window } from '../../../db/lists.ts';
import { cutAt, type Sized } from '../../../db/large-rows.ts';
import type { EventOrder, EventRow } from './events.store.ts';

/** Cuts rows to a page. A page that was cut for its size goes on after its last row. */
export const eventPage = (
  window: Window<EventOrder>,
  rows: readonly (EventRow & Sized)[],
): Page<EventRow & Sized> => pageOf(window, rows, cutAt(rows));
