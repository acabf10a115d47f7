import type { Fragment, Sql } from '../../../db/index.ts';
import { ownCategory } from '../append/new-event.ts';
import { purgedAction } from '../record/runs.ts';
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

/** What `grouping` says of a group below: a bit for each column that it does not have. */
const groupedBy = { outcome: 7, severity: 11, action: 13, day: 14, all: 15 } as const;
const mostActions = 10;

/** The events of a section that have a value in common. */
interface Group {
  readonly section: number;
  readonly by: number;
  readonly name: string | null;
  readonly count: number;
  readonly first_at: string | null;
  readonly last_at: string | null;
}

/** An event that says what a run of the retention purged. */
export interface RunRow {
  readonly timestamp: string;
  readonly sequence: number;
  readonly content: Buffer;
}

/** What an archive says of its events. */
export interface ArchivedRun {
  readonly id: string;
  readonly category: string;
  readonly from_timestamp: string;
  readonly to_timestamp: string;
}

/** Every statement that computes a report. */
export const sectionStore = (sql: Sql) => ({
  /** The numbers of the events that match each filter. One pass counts for all of them, since all that filters ask for is grouped. */
  async numbers(scope: ReportScope, filters: readonly SectionFilter[]): Promise<SectionNumbers[]> {
    const sections = sectionsOf(sql, filters);
    const [groups, persons] = await Promise.all([
      sql<Group[]>`
        with combined as materialized (
          select category, outcome, severity, action, (timestamp at time zone 'UTC')::date as day, count(*) as count,
            min(timestamp) as first_at, max(timestamp) as last_at
          from audit.events as event where ${isInScope(sql, scope)}
          group by 1, 2, 3, 4, 5
        ), counted as (
          select section, grouping(outcome, severity, action, day) as by,
            coalesce(outcome, severity, action, to_char(day, 'YYYY-MM-DD')) as name, sum(count)::bigint as count,
            min(first_at) as first_at, max(last_at) as last_at
          from combined as event join ${sections}
          group by section, grouping sets ((outcome), (severity), (action), (day), ())
        ), ranked as (
          select *, row_number() over (partition by section, by order by count desc, name) as rank from counted
        )
        select section, by, name, count, first_at, last_at from ranked
        where by <> ${groupedBy.action} or rank <= ${mostActions}
        order by section, by, rank`,
      sql<{ section: number; count: number }[]>`
        with acting as materialized (
          select distinct category, outcome, severity, action, actor_ref from audit.events as event
          where ${isInScope(sql, scope)} and actor_ref is not null
        )
        select section, count(*) as count
        from (select distinct section, actor_ref from acting as event join ${sections}) as person
        group by section`,
    ]);
    return filters.map((_, at) =>
      numbersOf(
        groups.filter(({ section }) => section === at),
        persons.find(({ section }) => section === at)?.count ?? 0,
      ),
    );
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

  /** For each person with so many failed sign-ins within an hour, the most of them, at most for this many persons; and all persons. */
  async failedSignIns(
    scope: ReportScope,
    fewest: number,
    persons: number,
  ): Promise<{ named: number[]; count: number }> {
    const rows = await sql<{ most: number; persons: number }[]>`
      select max(count) as most, count(*) over () as persons from (
        select coalesce(actor_ref, subject_ref) as person, count(*) over (
          partition by coalesce(actor_ref, subject_ref) order by timestamp range between interval '1 hour' preceding and current row
        ) as count
        from audit.events as event
        where ${isIn(sql, scope, { categories: ['auth'], outcomes: ['failure'] })} and coalesce(actor_ref, subject_ref) is not null
      ) as failed
      group by person having max(count) >= ${fewest} order by 1 desc limit ${persons}`;
    return { named: rows.map(({ most }) => most), count: rows[0]?.persons ?? 0 };
  },

  /** The runs of the retention that may have purged events of the period, in pages by their own time. */
  async runs(
    { tenant, app, from, headSeq }: ReportScope,
    after: RunRow | undefined,
    most: number,
  ): Promise<RunRow[]> {
    return await sql<RunRow[]>`
      select timestamp, sequence, content from audit.events
      where tenant_id = ${tenant} and app_id = ${app} and category = ${ownCategory} and action = ${purgedAction} and id is not null
        and timestamp >= ${from} and sequence <= ${headSeq}
        ${after === undefined ? sql`` : sql`and (timestamp, sequence) > (${after.timestamp}, ${after.sequence})`}
      order by timestamp, sequence limit ${most}`;
  },

  /** What archives say of the events in them. */
  async archived({ tenant }: ReportScope, ids: readonly string[]): Promise<ArchivedRun[]> {
    return await sql<ArchivedRun[]>`
      select id, category, from_timestamp, to_timestamp from audit.archives
      where tenant_id = ${tenant} and id = any(${[...ids]}::text[])`;
  },

  /** The days of the period, since the first event of the stream and before today, on which nothing is left, but for those on which something was purged. */
  async quietDays(
    { tenant, app, from, to }: ReportScope,
    purged: readonly string[],
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
        and to_char(day, 'YYYY-MM-DD') <> all(${[...purged]}::text[])
      order by 1 limit ${most}`;
    return { named: rows.map(({ day }) => day), count: rows[0]?.count ?? 0 };
  },
});

function numbersOf(groups: readonly Group[], persons: number): SectionNumbers {
  const of = (by: number) =>
    groups
      .filter((group) => group.by === by)
      .map(({ name, count }): readonly [string, number] => [name ?? '', count]);
  const all = groups.find(({ by }) => by === groupedBy.all);
  return {
    total: all?.count ?? 0,
    persons,
    firstAt: all?.first_at ?? null,
    lastAt: all?.last_at ?? null,
    outcomes: Object.fromEntries(of(groupedBy.outcome)),
    severities: Object.fromEntries(of(groupedBy.severity)),
    actions: of(groupedBy.action).map(([name, count]) => ({ name, count })),
    days: of(groupedBy.day)
      .map(([date, count]) => ({ date, count }))
      .sort((a, b) => (a.date < b.date ? -1 : 1)),
  };
}

/** The filters as a table, numbered from 0, with the condition on which an event belongs to a section; a list that is null means all. */
function sectionsOf(sql: Sql, filters: readonly SectionFilter[]): Fragment {
  const lists = filters.map(({ actions, ...filter }) => ({ ...filter, actions: actions?.map(likeOf) }));
  const list = (name: keyof SectionFilter) =>
    sql`(select array_agg(one) from jsonb_array_elements_text(given.filter -> ${name}) as one)`;
  return sql`(
    select (position - 1)::integer as section, ${list('categories')} as categories, ${list('actions')} as actions,
      ${list('severities')} as severities, ${list('outcomes')} as outcomes
    from jsonb_array_elements(${JSON.stringify(lists)}::text::jsonb) with ordinality as given(filter, position)
  ) as wanted on (wanted.categories is null or event.category = any(wanted.categories))
    and (wanted.actions is null or event.action like any(wanted.actions))
    and (wanted.severities is null or event.severity = any(wanted.severities))
    and (wanted.outcomes is null or event.outcome = any(wanted.outcomes))`;
}

function isInScope(sql: Sql, { tenant, app, from, to, headSeq, resourceRef }: ReportScope): Fragment {
  return sql`
    event.tenant_id = ${tenant} and event.app_id = ${app} and event.id is not null
    and event.timestamp >= ${from} and event.timestamp < ${to} and event.sequence <= ${headSeq}
    ${resourceRef === undefined ? sql`` : sql`and event.resource_ref = ${resourceRef}`}`;
}

function isIn(
  sql: Sql,
  scope: ReportScope,
  { categories, actions, severities, outcomes }: SectionFilter,
): Fragment {
  const among = (column: string, values: readonly string[] | undefined) =>
    values === undefined || values.length === 0
      ? sql``
      : sql`and ${sql(`event.${column}`)} = any(${[...values]}::text[])`;
  return sql`
    ${isInScope(sql, scope)}
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
