import { pageOf, type Page } from '../../../http/lists.ts';
import type { Window } from '../../../db/lists.ts';
import { cutAt, type Sized } from '../../../db/large-rows.ts';
import type { EventOrder, KeyedRow } from './events.store.ts';

/** Cuts rows to a page. A page that was cut for its size goes on after its last row. */
export const eventPage = (
  window: Window<EventOrder>,
  rows: readonly (KeyedRow & Sized)[],
): Page<KeyedRow & Sized> => pageOf(window, rows, cutAt(rows));
