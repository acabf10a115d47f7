import { pageOf, type Page } from '../../../http/lists.ts';
import type { Window } from '../../../db/lists.ts';
import type { EventOrder, EventRow, Sized } from './events.store.ts';

/** Cuts rows to a page. A page that was cut for its size goes on after its last row. */
export const eventPage = (
  window: Window<EventOrder>,
  rows: readonly (EventRow & Sized)[],
): Page<EventRow & Sized> => {
  const isCut = rows.length > 0 && rows[0]!.found > rows.length;
  return pageOf(window, rows, isCut ? rows.at(-1) : undefined);
};
