import type { LoggedChange, RecordedChange } from './changes.ts';
import type { Database } from './index.ts';
import type { Sql } from './sql.ts';

export interface Reading {
  readonly changes: LoggedChange[];
  /** The snapshot of this reading; the next reading returns the changes that were not visible in it. */
  readonly snapshot: string;
  /** The time of the reading by the database's clock, in milliseconds since the epoch. */
  readonly now: number;
  /** Whether there are more changes than a reader should catch up with. */
  readonly overflow: boolean;
}

const most = 10_000;

/**
 * The log of changes of one schema. The service declares the table: `changes` for a log that says what has changed, or
 * `detailed_changes` for a `detailed` log, which also says with which effect (`standard-tables.ts`).
 *
 * Numbers are assigned before the commit, so a lower number can become visible after a higher one. Readers therefore use
 * snapshots: a reading returns exactly the changes that the reading before it could not see.
 */
export function changeLog(db: Database, schema: string, detailed = false) {
  const { background } = db;
  const table = background(`${schema}.changes`);
  const columns = detailed
    ? background`log.seq, log.kind, log.id, log.effect, log.before`
    : background`log.seq, log.kind, log.id`;

  const appendDetailed = (sql: Sql, changes: readonly RecordedChange[]) => sql<LoggedChange[]>`
    insert into ${table} as log (kind, id, effect, before)
    select kind, id, effect, case when reach is null then 'epoch' else now() + reach * interval '1 millisecond' end
    from unnest(
      ${changes.map(({ kind }) => kind)}::text[],
      ${changes.map(({ id }) => id)}::text[],
      ${changes.map(({ effect = '' }) => effect)}::text[],
      ${changes.map(({ reach = 0 }) => reach)}::float8[]
    ) as change(kind, id, effect, reach)
    returning ${columns}
  `;

  return {
    async append(sql: Sql, changes: readonly RecordedChange[]): Promise<LoggedChange[]> {
      if (detailed) return appendDetailed(sql, changes);
      const kinds = changes.map(({ kind }) => kind);
      const ids = changes.map(({ id }) => id);
      return sql<LoggedChange[]>`
        insert into ${table} as log (kind, id)
        select kind, id from unnest(${kinds}::text[], ${ids}::text[]) as change(kind, id)
        returning ${columns}
      `;
    },

    /** Reads the changes that the snapshot `last` did not see. With null it returns no changes, only the snapshot to begin with. */
    async read(last: string | null): Promise<Reading> {
      const rows = await background<(Partial<LoggedChange> & Pick<Reading, 'snapshot' | 'now'>)[]>`
        select ${columns}, current.snapshot::text as snapshot,
          (extract(epoch from clock_timestamp()) * 1000)::float8 as now
        from (select pg_current_snapshot() as snapshot, ${last}::text::pg_snapshot as last) as current
        left join lateral (
          select * from ${table}
          where xid >= pg_snapshot_xmin(current.last) and not pg_visible_in_snapshot(xid, current.last)
          order by seq
          limit ${most + 1}
        ) as log on true
      `;
      const changes = rows.filter((row): row is typeof row & LoggedChange => typeof row.seq === 'number');
      return {
        changes: changes.map(({ snapshot: _snapshot, now: _now, ...change }) => change),
        snapshot: rows[0]?.snapshot ?? '',
        now: rows[0]?.now ?? NaN,
        overflow: changes.length > most,
      };
    },

    /**
     * Returns all changes that a reader who has seen `seq` may have missed: each row records which transactions were still open
     * when it was written. Returns undefined when that is no longer known, or when there are too many changes to catch up with.
     */
    async since(seq: number): Promise<LoggedChange[] | undefined> {
      const rows = await background<LoggedChange[]>`
        select ${columns}
        from ${table} as start join ${table} as log on log.xid >= start.horizon
        where start.seq = ${seq}
        order by log.seq
        limit ${most + 1}
      `;
      const known = rows.length > 0 && rows.length <= most;
      return known ? rows.filter((row) => row.seq !== seq) : undefined;
    },

    async prune(retentionMs: number): Promise<void> {
      await background`delete from ${table} where at < now() - ${retentionMs} * interval '1 millisecond'`;
    },
  };
}

export type ChangeLog = ReturnType<typeof changeLog>;
