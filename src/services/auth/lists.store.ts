import type { Sql } from '../../db/index.ts';
import type { Place } from '../../http/lists.ts';

/** The condition that a record of the table comes after this place, in a list that is sorted newest first, then by id. */
export function isAfter(sql: Sql, table: string, { created_at, id }: Place) {
  const [columnAt, columnId] = [sql(`${table}.created_at`), sql(`${table}.id`)];
  return sql`and ${columnAt} <= ${created_at} and (${columnAt} < ${created_at} or ${columnId} > ${id})`;
}
