import type { Context } from '../../http/context.ts';
import { decodeCursor, encodeCursor, page } from '../../lib/cursors.ts';
import { Invalid } from '../../lib/errors.ts';

/** Rows that one page of a list may look at before it ends short: what keeps a sparse filter from reading a table. */
export const EXAMINED = 20_000;

/** Where a page of a list begins, as a request says it. */
export interface PageRequest {
  readonly limit: number;
  readonly offset: number;
  readonly cursor?: string | undefined;
}

/** A page of a list that is ordered by id, newest first. */
export interface IdWindow {
  readonly limit: number;
  readonly offset: number;
  /** Only ids below this one. */
  readonly before: string | null;
}

export function idWindow(request: PageRequest): IdWindow {
  refuseBoth(request);
  const before = request.cursor === undefined ? null : decodeCursor(request.cursor, { id: 'string' }).id;
  return { limit: request.limit, offset: request.offset, before };
}

/** Cuts what was read with `limit + 1` to the page, and says in the header where the next one begins. */
export function answerPage<Row extends { readonly id: string }>(
  context: Context,
  rows: readonly Row[],
  limit: number,
): Row[] {
  const { items, next } = page(rows, limit, ({ id }) => ({ id }));
  if (next !== null) context.reply.header('X-Next-Cursor', next);
  return items;
}

/** Says in the header where to go on after a page that ended because it had looked at enough rows. */
export function resumeAt(context: Context, id: string | undefined): void {
  if (id !== undefined) context.reply.header('X-Next-Cursor', encodeCursor({ id }));
}

/** A cursor knows where it is; an offset besides would move it. */
export function refuseBoth({ offset, cursor }: PageRequest): void {
  if (cursor !== undefined && offset > 0) throw Invalid('offset: not together with cursor');
}
