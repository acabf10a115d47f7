import { newestFirst, type Order, type PlaceIn, type Window } from '../db/lists.ts';
import { decodeCursor, encodeCursor } from '../lib/cursors.ts';
import type { Reply } from './context.ts';

/** The paging parameters of a list request. Some lists have no offset, others have no cursor. */
export interface PageRequest {
  readonly limit: number;
  readonly offset?: number;
  readonly cursor?: string | undefined;
}

/**
 * Returns the page that a request asks for, in a list of this order; without `order`, newest first. A check before any handler
 * ensures that a cursor comes without an offset and belongs to this list (`bound-cursor.ts`).
 * @throws Invalid for a cursor that no list of this order gave.
 */
export function windowOf(request: PageRequest): Window;
export function windowOf<O extends Order>(request: PageRequest, order: O): Window<O>;
export function windowOf(
  { limit, offset = 0, cursor }: PageRequest,
  order: Order = newestFirst,
): Window<Order> {
  const after = cursor === undefined ? null : decodeCursor(cursor, order.columns);
  return { order, limit, offset, after };
}

/** A page of a list. */
export interface Page<Row> {
  readonly items: Row[];
  /** The cursor of the next page, or null when no row follows. A contract's `has_more` is `next !== null`. */
  readonly next: string | null;
}

/**
 * Cuts rows, of which the store read one more than fits (`onePage`), to the page. `resumed` is the position from which the next
 * page continues when the store stopped before it had filled this one.
 */
export function pageOf<O extends Order, Row extends PlaceIn<O>>(
  { order, limit }: Pick<Window<O>, 'order' | 'limit'>,
  rows: readonly Row[],
  resumed?: PlaceIn<O>,
): Page<Row> {
  const items = rows.slice(0, limit);
  const last = rows.length > limit ? items.at(-1) : resumed;
  return { items, next: last === undefined ? null : cursorAt(order, last) };
}

/** Returns the rows of the page, and sets `X-Next-Cursor` when there is a next page. The parameters are those of `pageOf`. */
export function answerPage<O extends Order, Row extends PlaceIn<O>>(
  reply: Reply,
  window: Pick<Window<O>, 'order' | 'limit'>,
  rows: readonly Row[],
  resumed?: PlaceIn<O>,
): Row[] {
  const { items, next } = pageOf(window, rows, resumed);
  if (next !== null) reply.header('X-Next-Cursor', next);
  return items;
}

const cursorAt = ({ columns }: Order, place: Readonly<Record<string, string | number>>): string =>
  encodeCursor(Object.fromEntries(Object.keys(columns).map((column) => [column, place[column]!])));
