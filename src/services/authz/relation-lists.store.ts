import type { Relation, RelationKey } from '../../../generated/authz/types.ts';
import type { Sql } from '../../db/index.ts';
import { followsPrevious, onePage, type Order, orderedBy, type Window } from '../../db/lists.ts';
import { mostExamined } from './lists.ts';
import { relationColumns, relationNames } from './relations.store.ts';

export type RelationFilter = { readonly [Name in keyof RelationKey]?: string | undefined };

/** The order of the list: that of the primary key. */
export const byKey = {
  columns: {
    object_type: 'string',
    relation: 'string',
    object_id: 'string',
    subject_type: 'string',
    subject_id: 'string',
    subject_relation: 'string',
  },
  direction: 'asc',
} as const satisfies Order;

type KeyWindow = Window<typeof byKey>;

/** The statements behind the list of tuples. Each reads one or a few index ranges, whatever the size of the table. */
export const relationListStore = (sql: Sql) => ({
  /** Returns tuples in key order and examines at most `mostExamined` rows. `lastExamined` says where the next page continues. */
  async list(tenant: string, filter: RelationFilter, window: KeyWindow): Promise<Relation[]> {
    if (filter.object_id !== undefined && filter.relation === undefined)
      return await sql<Relation[]>`${byObject(sql, tenant, filter, window)}`;
    if (filter.subject_id !== undefined)
      return await sql<Relation[]>`${bySubject(sql, tenant, filter, window)}`;
    return await sql<Relation[]>`
      select ${relationColumns(sql)}
      from (
        select ${relationColumns(sql)}
        from authz.relations
        where ${keyRange(sql, tenant, filter, window)}
        order by ${orderedBy(sql, byKey)}
        limit ${mostExamined}
      ) examined
      where ${live(sql)} and ${matches(sql, filter)}
      ${onePage(sql, window)}`;
  },

  /** Returns the last key that `list` examined, when `list` stopped with rows left to examine. */
  async lastExamined(
    tenant: string,
    filter: RelationFilter,
    window: KeyWindow,
  ): Promise<(RelationKey & { id: string }) | undefined> {
    if (filter.subject_id !== undefined || (filter.object_id !== undefined && filter.relation === undefined))
      return undefined;
    const rows = await sql<(RelationKey & { id: string })[]>`
      select id, object_type, object_id, relation, subject_type, subject_id, subject_relation
      from authz.relations
      where ${keyRange(sql, tenant, filter, window)}
      order by ${orderedBy(sql, byKey)}
      limit 2
      offset ${mostExamined - 1}`;
    return rows.length === 2 ? rows[0] : undefined;
  },

  /** Returns the key of a tuple, for a cursor that names the tuple by id. */
  async findKey(tenant: string, id: string): Promise<RelationKey | undefined> {
    const [key] = await sql<RelationKey[]>`
      select object_type, object_id, relation, subject_type, subject_id, subject_relation
      from authz.relations
      where tenant_id = ${tenant} and id = ${id}`;
    return key;
  },
});

/** Selects all relations of one object: one range of the primary key for each relation name of its type. */
function byObject(sql: Sql, tenant: string, filter: RelationFilter, window: KeyWindow) {
  return sql`
    select ${relationColumns(sql)}
    from unnest(${relationNames(sql, tenant, filter.object_type ?? '')}) as names (name)
    cross join lateral (
      select ${relationColumns(sql)}
      from authz.relations
      where tenant_id = ${tenant} and object_type = ${filter.object_type ?? ''} and relation = names.name
        and object_id = ${filter.object_id ?? ''}
        and ${live(sql)} and ${matches(sql, filter)} ${above(sql, window)}
      order by ${orderedBy(sql, byKey)}
      limit ${window.limit + 1 + window.offset}
    ) found
    ${onePage(sql, window)}`;
}

/** Selects all tuples of one subject: one range of the subject index for each of its relations. */
function bySubject(sql: Sql, tenant: string, filter: RelationFilter, window: KeyWindow) {
  const forms =
    filter.subject_relation === undefined
      ? subjectForms(sql, tenant, filter)
      : sql`array[${filter.subject_relation}::text]`;
  return sql`
    select ${relationColumns(sql)}
    from unnest(${forms}) as forms (form)
    cross join lateral (
      select ${relationColumns(sql)}
      from authz.relations
      where tenant_id = ${tenant} and subject_type = ${filter.subject_type ?? ''}
        and subject_id = ${filter.subject_id ?? ''} and subject_relation = forms.form
        and ${live(sql)} and ${matches(sql, filter)} ${above(sql, window)}
      order by object_type, relation, object_id
      limit ${window.limit + 1 + window.offset}
    ) found
    ${onePage(sql, window)}`;
}

/** The relations with which a subject occurs (`''` for the subject itself), with one index probe each. */
const subjectForms = (sql: Sql, tenant: string, filter: RelationFilter) => sql`array(
  with recursive forms as (
    select min(subject_relation) as form
    from authz.relations
    where tenant_id = ${tenant} and subject_type = ${filter.subject_type ?? ''} and subject_id = ${filter.subject_id ?? ''}
    union all
    select (
      select min(subject_relation)
      from authz.relations
      where tenant_id = ${tenant} and subject_type = ${filter.subject_type ?? ''}
        and subject_id = ${filter.subject_id ?? ''} and subject_relation > forms.form
    )
    from forms
    where forms.form is not null
  )
  select form from forms where form is not null
)`;

/** The part of a filter that is a range of the primary key. */
function keyRange(
  sql: Sql,
  tenant: string,
  { object_type, relation, object_id }: RelationFilter,
  window: KeyWindow,
) {
  return sql`tenant_id = ${tenant} and ${matches(sql, { object_type, relation, object_id })} ${above(sql, window)}`;
}

/** Rows after the previous page. The second condition follows from the first; the index of a subject's tuples can use it. */
function above(sql: Sql, window: KeyWindow) {
  const { after } = window;
  if (after === null) return sql``;
  return sql`${followsPrevious(sql, window)}
    and (object_type, relation, object_id) >= (${after.object_type}, ${after.relation}, ${after.object_id})`;
}

const live = (sql: Sql) => sql`(expires_at is null or expires_at > now())`;

/** The members of a filter as conditions, for any index that the statement reads. */
function matches(sql: Sql, filter: RelationFilter) {
  return (Object.keys(filter) as (keyof RelationKey)[])
    .filter((name) => filter[name] !== undefined)
    .reduce((conditions, name) => sql`${conditions} and ${sql(name)} = ${filter[name] ?? ''}`, sql`true`);
}
