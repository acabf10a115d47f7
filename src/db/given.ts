import type { Fragment } from 'postgres';
import type { Sql } from './sql.ts';

/**
 * Arrays side by side, as the rows of a table for `from`: ``${given(sql, sql`${ids}::text[]`, sql`${sizes}::bigint[]`)} as one(id, size)``.
 *
 * PostgreSQL would plan a statement with `unnest($1)` again each time it runs, which can take several times as long as to run it: for
 * the three rows that it sees in the array a plan looks cheaper than for any number of them. It does not see through a sub-select,
 * so the statement keeps its plan. Statements that run rarely, or on thousands of rows, need none of this.
 */
export const given = (sql: Sql, first: Fragment, ...others: readonly Fragment[]): Fragment =>
  sql`unnest(${others.reduce((all, one) => sql`${all}, (select ${one})`, sql`(select ${first})`)})`;

/** The same for arrays of texts. */
export const givenTexts = (sql: Sql, first: string[], ...others: readonly string[][]): Fragment =>
  given(sql, sql`${first}::text[]`, ...others.map((one) => sql`${one}::text[]`));
