import type { Sql } from '../../../db/index.ts';
import type { Dataset, Subject } from '../dataset.ts';
import { mostTables } from '../limits.ts';
import { type Arrivals, oldestOf } from './arrivals.ts';

/** A push that may be merged. */
export interface Push {
  readonly node: string;
  readonly subject: Subject;
  readonly arrivals: Arrivals;
  readonly events: {
    readonly claimed: string;
    readonly pushed: string;
    /** The data of the event about the push; null if it brought nothing. */
    readonly pushedData: string | null;
  };
}

/** What became of a push: merged, or why not. */
export interface Verdict {
  readonly verdict: 'ok' | 'drift' | 'stale' | 'tables' | 'owner';
  /** The clock of the database at which it was judged, in milliseconds since 1970. */
  readonly now_ms: number;
  /** The clock of the data set after it, as a stamp. */
  readonly reading: string;
}

export const pushStore = (sql: Sql) => ({
  /**
   * Merges pushes of one data set, in their order, each as a whole or not at all.
   * @param epoch the epoch of the data set if this makes it
   */
  async merge(
    { tenant, app }: Dataset,
    pushes: readonly Push[],
    { epoch, maxDriftMs }: { epoch: string; maxDriftMs: number },
  ): Promise<Verdict[]> {
    const of = <Value>(value: (push: Push) => Value) => pushes.map(value);
    const cells = pushes.flatMap(({ arrivals }, at) =>
      arrivals.cells.map((cell) => ({ request: at + 1, cell })),
    );
    const each = <Value>(value: (cell: Arrivals['cells'][number]) => Value) =>
      shared(cells.map(({ cell }) => value(cell)));
    const tables = pushes.flatMap(({ arrivals }, at) =>
      [...arrivals.tables].map(([table, latest]) => ({ request: at + 1, table, latest })),
    );
    return await sql<Verdict[]>`
      select verdict, now_ms, reading::text from sync.push(
        ${tenant}, ${app}, ${epoch}, ${maxDriftMs}, ${mostTables},
        ${of(({ node }) => node)}::text[], ${of(({ subject }) => subject.owner)}::text[],
        ${of(({ subject }) => String(subject.exempt))}::text[]::boolean[],
        ${of(({ subject }) => subject.actor)}::text[], ${of(({ subject }) => subject.requestId)}::text[],
        ${of(({ arrivals }) => String(arrivals.highest))}::text[]::bigint[],
        ${of(({ arrivals }) => oldestOf(arrivals.cells))}::text[],
        ${of(({ events }) => events.claimed)}::text[], ${of(({ events }) => events.pushed)}::text[],
        ${of(({ events }) => events.pushedData)}::text[],
        ${tables.map(({ request }) => request)}::integer[], ${tables.map(({ table }) => table)}::text[],
        ${tables.map(({ latest }) => latest)}::text[],
        ${[...new Set(cells.map(({ cell }) => cell.kind))].join('')}::text,
        ${String(cells.some(({ cell }) => cell.isReplaced))}::text::boolean,
        ${shared(cells.map(({ request }) => request))}::integer[], ${each(({ table }) => table)}::text[],
        ${cells.map(({ cell }) => cell.pk)}::text[], ${each(({ field }) => field)}::text[], ${each(({ kind }) => kind)}::text[],
        ${each(({ sub }) => sub)}::text[], ${each(({ hlc }) => hlc)}::text[], ${each(({ value }) => value)}::text[],
        ${each(({ inc }) => inc)}::bigint[], ${each(({ dec }) => dec)}::bigint[], ${each(({ removed }) => removed)}::text[],
        ${each(({ isReplaced }) => String(isReplaced))}::text[]::boolean[]
      )`;
  },
});

/** What all cells have in common is sent once. */
const shared = <Value>(values: readonly Value[]): readonly Value[] =>
  values.every((value) => value === values[0]) ? values.slice(0, 1) : values;
