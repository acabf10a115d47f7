import type { Relation, RelationKey } from '../../../generated/authz/types.ts';
import type { Sql } from '../../db/index.ts';
import { EXAMINED } from './lists.ts';
import { relationColumns, relationNames } from './relations.store.ts';

export type RelationFilter = { readonly [Name in keyof RelationKey]?: string | undefined };

/** A page of the list of tuples, which is in the order of their keys. */
export interface KeyWindow {
  readonly limit: number;
  readonly offset: number;
  /** Only keys above this one. */
  readonly after: RelationKey | null;
}

/** The statements behind the list of tuples; each reads one or a few index ranges, whatever the size of the table. */
export const relationListStore = (sql: Sql) => ({
  /** In key order. Looks at no more than `EXAMINED` rows: what it did not get to is behind `resumeAfter`. */
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
        where ${keyRange(sql, tenant, filter, window.after)}
        order by object_type, relation, object_id, subject_type, subject_id, subject_relation
        limit ${EXAMINED}
      ) examined
      where ${live(sql)} and ${matches(sql, filter)}
      order by object_type, relation, object_id, subject_type, subject_id, subject_relation
      limit ${window.limit + 1}
      offset ${window.offset}`;
  },

  /** The last key that `list` looked at, when it stopped with rows left to look at. */
  async resumeAfter(
    tenant: string,
    filter: RelationFilter,
    after: RelationKey | null,
  ): Promise<(RelationKey & { id: string }) | undefined> {
    if (filter.subject_id !== undefined || (filter.object_id !== undefined && filter.relation === undefined))
      return undefined;
    const rows = await sql<(RelationKey & { id: string })[]>`
      select id, object_type, object_id, relation, subject_type, subject_id, subject_relation
      from authz.relations
      where ${keyRange(sql, tenant, filter, after)}
      order by object_type, relation, object_id, subject_type, subject_id, subject_relation
      limit 2
      offset ${EXAMINED - 1}`;
    return rows.length === 2 ? rows[0] : undefined;
  },

  /** The key of a tuple, for the cursor that names it by id. */
  async findKey(tenant: string, id: string): Promise<RelationKey | undefined> {
    const [key] = await sql<RelationKey[]>`
      select object_type, object_id, relation, subject_type, subject_id, subject_relation
      from authz.relations
      where tenant_id = ${tenant} and id = ${id}`;
    return key;
  },
});

/** All relations of one object: one range of the primary key for each relation name of its type. */
function byObject(sql: Sql, tenant: string, filter: RelationFilter, { limit, offset, after }: KeyWindow) {
  return sql`
    select ${relationColumns(sql)}
    from unnest(${relationNames(sql, tenant, filter.object_type ?? '')}) as names (name)
    cross join lateral (
      select ${relationColumns(sql)}
      from authz.relations
      where tenant_id = ${tenant} and object_type = ${filter.object_type ?? ''} and relation = names.name
        and object_id = ${filter.object_id ?? ''}
        and ${live(sql)} and ${matches(sql, filter)} and ${above(sql, after)}
      order by object_type, relation, object_id, subject_type, subject_id, subject_relation
      limit ${limit + 1 + offset}
    ) found
    order by object_type, relation, object_id, subject_type, subject_id, subject_relation
    limit ${limit + 1}
    offset ${offset}`;
}

/** All that one subject is in: one range of the subject index for each of its relations. */
function bySubject(sql: Sql, tenant: string, filter: RelationFilter, { limit, offset, after }: KeyWindow) {
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
        and ${live(sql)} and ${matches(sql, filter)} and ${above(sql, after)}
      order by object_type, relation, object_id
      limit ${limit + 1 + offset}
    ) found
    order by object_type, relation, object_id, subject_type, subject_id, subject_relation
    limit ${limit + 1}
    offset ${offset}`;
}

/** The relations with which a subject occurs (`''` for itself), one index probe each. */
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
  after: RelationKey | null,
) {
  return sql`tenant_id = ${tenant} and ${matches(sql, { object_type, relation, object_id })} and ${above(sql, after)}`;
}

function above(sql: Sql, after: RelationKey | null) {
  if (after === null) return sql`true`;
  return sql`(object_type, relation, object_id, subject_type, subject_id, subject_relation) > (
    ${after.object_type}, ${after.relation}, ${after.object_id}, ${after.subject_type}, ${after.subject_id},
    ${after.subject_relation})
    and (object_type, relation, object_id) >= (${after.object_type}, ${after.relation}, ${after.object_id})`;
}

const live = (sql: Sql) => sql`(expires_at is null or expires_at > now())`;

/** The members of a filter as conditions, for whichever index the statement reads. */
function matches(sql: Sql, filter: RelationFilter) {
  return (Object.keys(filter) as (keyof RelationKey)[])
    .filter((name) => filter[name] !== undefined)
    .reduce((conditions, name) => sql`${conditions} and ${sql(name)} = ${filter[name] ?? ''}`, sql`true`);
}
