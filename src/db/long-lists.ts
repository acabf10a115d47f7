import type { Fragment } from 'postgres';
import { Invalid } from '../lib/errors.ts';
import { followsPrevious, type Window } from './lists.ts';
import type { Sql } from './sql.ts';

/** Newest first, by ids that begin with the time of their creation. */
type ById = { readonly columns: { readonly id: 'string' }; readonly direction: 'desc' };

/** Rows among which a page looks for those that match its filters: the conditions here are those for which there is an index. */
export interface Source {
  readonly table: Fragment;
  readonly where: Fragment;
}

/** The most rows of a table that one page looks at: a filter may match none of a history of millions. */
export const mostLooked = 5_000;

/** The id of the last row that the page may look at; undefined when it may look at all that follow. */
export async function lookEnd(
  sql: Sql,
  sources: readonly Source[],
  window: Pick<Window<ById>, 'order' | 'after'>,
): Promise<string | undefined> {
  const ends = sources
    .map(
      ({ table, where }) => sql`(
        select id from ${table} where ${where} ${followsPrevious(sql, window)} order by id desc offset ${mostLooked - 1} limit 1
      )`,
    )
    .reduce((before, end) => sql`${before} union all ${end}`);
  const [row] = await sql<[{ id: string | null }]>`select max(id) as id from (${ends}) as ends`;
  return row.id ?? undefined;
}

/**
 * Where the next page goes on when this one stopped looking before it was full; undefined when it did not. What an offset skips is
 * counted among the rows that match, so that a page with one cannot stop and go on.
 * @throws Invalid
 */
export function resumedAt(
  { limit, offset }: Pick<Window<ById>, 'limit' | 'offset'>,
  rows: readonly unknown[],
  end: string | undefined,
): { readonly id: string } | undefined {
  if (end === undefined || rows.length > limit) return undefined;
  if (offset > 0) throw Invalid('offset: reaches too far with these filters, follow X-Next-Cursor instead');
  return { id: end };
}
