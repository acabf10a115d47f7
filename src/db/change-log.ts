import type { LoggedChange, RecordedChange } from './changes.ts';
import type { Database } from './index.ts';
import type { Sql } from './sql.ts';

export interface Reading {
  readonly changes: LoggedChange[];
  /** What was visible to it; the next reading returns what was not. */
  readonly snapshot: string;
  /** There is more than a reader is expected to catch up with. */
  readonly overflow: boolean;
}

const most = 10_000;

/**
 * The log of changes of one schema. The service's migration creates it:
 *
 *     create table <schema>.changes (
 *       seq bigint generated always as identity,
 *       kind text not null,
 *       id text not null,
 *       xid xid8 not null default pg_current_xact_id(),
 *       horizon xid8 not null default pg_snapshot_xmin(pg_current_snapshot()),
 *       at timestamptz(3) not null default now(),
 *       constraint changes_pkey primary key (seq)
 *     );
 *     create index changes_xid_idx on <schema>.changes (xid);
 *     create index changes_at_idx on <schema>.changes (at);
 *
 * One that is `detailed` has besides `effect text not null` and `before timestamptz(3) not null`.
 *
 * Numbers are given out before the commit, so a lower one can become visible after a higher one. Readers therefore go by
 * snapshots: a reading returns exactly what the one before it could not see.
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

    /** What the snapshot of the last reading did not see; null only finds out where to begin. */
    async read(last: string | null): Promise<Reading> {
      const rows = await background<(Partial<LoggedChange> & { snapshot: string })[]>`
        select ${columns}, current.snapshot::text as snapshot
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
        changes: changes.map(({ snapshot: _, ...change }) => change),
        snapshot: rows[0]?.snapshot ?? '',
        overflow: changes.length > most,
      };
    },

    /**
     * Everything that a reader who has seen `seq` may not have seen: each row knows what was still open when it was written.
     * Undefined where that is no longer known, or more than a reader is expected to catch up with.
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
