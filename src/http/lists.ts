import { decodeCursor, page } from '../lib/cursors.ts';
import { Invalid } from '../lib/errors.ts';
import type { Reply } from './context.ts';

/** How a list is asked for. Lists without an offset are walked by cursor only. */
export interface PageRequest {
  readonly limit: number;
  readonly offset?: number;
  readonly cursor?: string | undefined;
}

/** The last record of the page before, in a list that is sorted newest first, then by id. */
export interface Place {
  readonly created_at: string;
  readonly id: string;
}

/** What a store needs to read a page. */
export interface Window<At> {
  readonly limit: number;
  readonly offset: number;
  readonly after: At | null;
}

/** @throws Invalid when a cursor comes with an offset or is none of ours. */
export function newestFirst({ limit, offset = 0, cursor }: PageRequest): Window<Place> {
  if (cursor === undefined) return { limit, offset, after: null };
  if (offset > 0) throw Invalid('cursor: not together with offset');
  return { limit, offset: 0, after: decodeCursor(cursor, { created_at: 'time', id: 'string' }) };
}

/** @throws Invalid when a cursor comes with an offset or is none of ours. */
export function byName({ limit, offset = 0, cursor }: PageRequest): Window<{ name: string }> {
  if (cursor === undefined) return { limit, offset, after: null };
  if (offset > 0) throw Invalid('cursor: not together with offset');
  return { limit, offset: 0, after: decodeCursor(cursor, { name: 'string' }) };
}

/** Answers the page and says in `X-Next-Cursor` where the next one begins. `rows` has one more when there is one. */
export function answerPage<Row>(
  reply: Reply,
  rows: readonly Row[],
  limit: number,
  placeOf: (row: Row) => Record<string, string>,
): Row[] {
  const { items, next } = page(rows, limit, placeOf);
  if (next !== null) reply.header('X-Next-Cursor', next);
  return items;
}

export const placeOf = ({ created_at, id }: Place) => ({ created_at, id });
