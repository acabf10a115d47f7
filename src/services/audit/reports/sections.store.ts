import type { Fragment, Sql } from '../../../db/index.ts';
import type { SectionFilter } from './standards.ts';

/** The events that a report is about: those of a stream in a period, up to the head at its start. */
export interface ReportScope {
  readonly tenant: string;
  readonly app: string;
  readonly from: string;
  readonly to: string;
  readonly headSeq: number;
  /** Only events about this resource. */
  readonly resourceRef: Buffer | undefined;
}

/** The numbers of a section. */
export interface SectionNumbers {
  readonly total: number;
  readonly persons: number;
  readonly firstAt: string | null;
  readonly lastAt: string | null;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly severities: Readonly<Record<string, number>>;
  /** The most frequent ones. */
  readonly actions: readonly { readonly name: string; readonly count: number }[];
  /** By day, oldest first. */
  readonly days: readonly { readonly date: string; readonly count: number }[];
}

/** The events that a section shows. */
export interface Evidence {
  readonly sequences: readonly number[];
  /** Whether the section has more events. */
  readonly isCut: boolean;
}

/** What `grouping` says of the groups of the statement below: a bit for each column that a group does not have. */
const groups = { outcome: 7, severity: 11, action: 13, day: 14, all: 15 } as const;
const mostActions = 10;

/** Every statement that computes a report. */
export const sectionStore = (sql: Sql) => ({
  async numbers(scope: ReportScope, filter: SectionFilter): Promise<SectionNumbers> {
    const event = sql`select timestamp, outcome, severity, action, actor_ref from audit.events as event where ${isIn(sql, scope, filter)}`;
    const [rows, [persons]] = await Promise.all([
      sql<
        { by: number; name: string | null; count: number; first_at: string | null; last_at: string | null }[]
      >`
        with counted as materialized (
          select grouping(outcome, severity, action, day) as by, coalesce(outcome, severity, action, day) as name, count(*) as count,
            min(timestamp) as first_at, max(timestamp) as last_at
          from (select *, to_char(timestamp at time zone 'UTC', 'YYYY-MM-DD') as day from (${event}) as event) as event
          group by grouping sets ((outcome), (severity), (action), (day), ())
        )
        select * from counted where by <> ${groups.action}
        union all
        (select * from counted where by = ${groups.action} order by count desc, name limit ${mostActions})`,
      sql<[{ count: number }]>`select count(distinct actor_ref) as count from (${event}) as event`,
    ]);
    const of = (by: number) =>
      rows.filter((row) => row.by === by).map(({ name, count }) => ({ name: name ?? '', count }));
    const record = (by: number) => Object.fromEntries(of(by).map(({ name, count }) => [name, count]));
    const all = rows.find(({ by }) => by === groups.all);
    return {
      total: all?.count ?? 0,
      persons: persons.count,
      firstAt: all?.first_at ?? null,
      lastAt: all?.last_at ?? null,
      outcomes: record(groups.outcome),
      severities: record(groups.severity),
      actions: of(groups.action),
      days: of(groups.day)
        .map(({ name, count }) => ({ date: name, count }))
        .sort((a, b) => (a.date < b.date ? -1 : 1)),
    };
  },

  /**
   * The events to show: first the exceptions and then the others, the newest first, so many that they have together at most this many
   * bytes.
   */
  async evidence(
    scope: ReportScope,
    filter: SectionFilter,
    { most, bytes }: { readonly most: number; readonly bytes: number },
  ): Promise<Evidence> {
    const chosen = (isException: boolean) => sql`(
      select sequence, timestamp, ${isException} as is_exception, octet_length(actor) + octet_length(content) as size
      from audit.events as event
      where ${isIn(sql, scope, filter)}
        and ${isException ? sql`` : sql`not`} (event.severity <> 'info' or event.outcome <> 'success')
      order by timestamp desc, sequence desc limit ${most + 1}
    )`;
    const rows = await sql<{ sequence: number; fits: boolean }[]>`
      select sequence, sum(size) over shown <= ${bytes} and row_number() over shown <= ${most} as fits
      from (${chosen(true)} union all ${chosen(false)}) as event
      window shown as (order by is_exception desc, timestamp desc, sequence desc)
      order by is_exception desc, timestamp desc, sequence desc
      limit ${most + 1}`;
    return {
      sequences: rows.filter(({ fits }) => fits).map(({ sequence }) => sequence),
      isCut: rows.some(({ fits }) => !fits),
    };
  },

  /** The first and the last number of the events in the period, and how many numbers that are at most. */
  async range(scope: ReportScope): Promise<{ from: number; to: number } | undefined> {
    const [row] = await sql<[{ from: number | null; to: number | null }]>`
      select min(sequence) as from, max(sequence) as to from audit.events as event where ${isIn(sql, scope, {})}`;
    return row.from === null || row.to === null ? undefined : { from: row.from, to: row.to };
  },

  /** For each person with so many failed sign-ins within an hour, the most of them, at most for this many persons. */
  async failedSignIns(scope: ReportScope, fewest: number, persons: number): Promise<number[]> {
    const rows = await sql<{ most: number }[]>`
      select max(count) as most from (
        select coalesce(actor_ref, subject_ref) as person, count(*) over (
          partition by coalesce(actor_ref, subject_ref) order by timestamp range between interval '1 hour' preceding and current row
        ) as count
        from audit.events as event
        where ${isIn(sql, scope, { categories: ['auth'], outcomes: ['failure'] })} and coalesce(actor_ref, subject_ref) is not null
      ) as failed
      group by person having max(count) >= ${fewest} order by 1 desc limit ${persons}`;
    return rows.map(({ most }) => most);
  },

  /** The days of the period, since the first event of the stream and before today, on which nothing happened. */
  async quietDays(
    { tenant, app, from, to }: ReportScope,
    most: number,
  ): Promise<{ named: string[]; count: number }> {
    const rows = await sql<{ day: string; count: number }[]>`
      select to_char(day, 'YYYY-MM-DD') as day, count(*) over () as count
      from generate_series(
        greatest(
          (${from}::timestamptz at time zone 'UTC')::date,
          (select (min(timestamp) at time zone 'UTC')::date from audit.events
           where tenant_id = ${tenant} and app_id = ${app} and id is not null)
        )::timestamp,
        least((${to}::timestamptz - interval '1 millisecond') at time zone 'UTC', (now() at time zone 'UTC')::date - interval '1 day'),
        interval '1 day'
      ) as day
      where not exists (
        select from audit.events
        where tenant_id = ${tenant} and app_id = ${app} and id is not null
          and timestamp >= day at time zone 'UTC' and timestamp < (day + interval '1 day') at time zone 'UTC'
      )
      order by 1 limit ${most}`;
    return { named: rows.map(({ day }) => day), count: rows[0]?.count ?? 0 };
  },
});

function isIn(
  sql: Sql,
  scope: ReportScope,
  { categories, actions, severities, outcomes }: SectionFilter,
): Fragment {
  const among = (column: string, values: readonly string[] | undefined) =>
    values === undefined || values.length === 0
      ? sql``
      : sql`and ${sql(`event.${column}`)} = any(${[...values]}::text[])`;
  const { tenant, app, from, to, headSeq, resourceRef } = scope;
  return sql`
    event.tenant_id = ${tenant} and event.app_id = ${app} and event.id is not null
    and event.timestamp >= ${from} and event.timestamp < ${to} and event.sequence <= ${headSeq}
    ${resourceRef === undefined ? sql`` : sql`and event.resource_ref = ${resourceRef}`}
    ${among('category', categories)} ${among('severity', severities)} ${among('outcome', outcomes)}
    ${
      actions === undefined || actions.length === 0
        ? sql``
        : sql`and event.action like any(${actions.map(likeOf)}::text[])`
    }`;
}

/** A pattern with `*` as one of SQL. */
const likeOf = (pattern: string): string =>
  pattern.replaceAll(/[\\%_]/g, String.raw`\$&`).replaceAll('*', '%');
