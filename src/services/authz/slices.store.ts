import type { Sql } from '../../db/index.ts';
import type { AssignmentFact, FetchedSlice, KnownIds, SliceKey, TupleFact } from './engine/types.ts';

/** A part of a statement. */
type Fragment = ReturnType<typeof factColumns>;

type Of<Slice extends SliceKey['slice']> = Extract<SliceKey, { slice: Slice }>;

/** A row of a slice. In slice A, `object_type` and `object_id` are the scope. */
interface Row {
  /** The position of the requested key. Null in the row that carries the revision. */
  place: number | null;
  id: string;
  role_id: string;
  object_type: string;
  object_id: string;
  relation: string;
  subject_type: string;
  subject_id: string;
  subject_relation: string;
  expires_at: string | null;
  revision: number;
}

/** Reads the slices that a partial model requests. */
export const sliceStore = (sql: Sql) => ({
  /** Reads all slices in one statement, and so from one snapshot, and returns them with the snapshot's revision. */
  async read(
    tenant: string,
    keys: readonly SliceKey[],
  ): Promise<{ slices: FetchedSlice[]; revision: number }> {
    const of = <Slice extends SliceKey['slice']>(slice: Slice) =>
      keys.flatMap((key, place) => (key.slice === slice ? [{ ...(key as Of<Slice>), place }] : []));
    const parts = [
      ...part(of('A'), (keys) => assignments(sql, tenant, keys)),
      ...part(of('M'), (keys) => members(sql, tenant, keys)),
      ...part(of('U'), (keys) =>
        objectSets(sql, tenant, keys, sql`(f.subject_relation <> '' or f.subject_id = '*')`),
      ),
      ...part(of('P'), (keys) =>
        objectSets(sql, tenant, keys, sql`f.subject_relation = '' and f.subject_id <> '*'`),
      ),
      ...part(of('S'), (keys) => subjects(sql, tenant, keys)),
    ];
    const rows = await sql<Row[]>`
      select
        null::int as place, '' as id, '' as role_id, '' as object_type, '' as object_id, '' as relation,
        '' as subject_type, '' as subject_id, '' as subject_relation, null::timestamptz as expires_at,
        coalesce((select revision from authz.tenants where tenant_id = (select ${tenant}::text)), 0) as revision
      ${parts.reduce((all, part) => sql`${all} union all ${part}`, sql``)}`;
    return assemble(keys, rows);
  },

  /**
   * Returns the next `count` ids above `after` that unexpired tuples and assignments mention with this type, in code-point
   * order. Each id is the least that any of four indexes has next, so the cost does not depend on the number of facts.
   */
  async known(tenant: string, type: string, after: string | undefined, count: number): Promise<KnownIds> {
    const rows = await sql<{ id: string }[]>`
      with recursive names as (${relationNames(sql, tenant, type)}), ids as (
        select ${after === undefined ? sql`''` : sql`${after}`}::text collate "C" as id, 0 as place
        union all
        select (select min(next.id) from (${nextOfEachIndex(sql, tenant, type)}) next), ids.place + 1
        from ids
        where ids.id is not null and ids.place <= ${count}
      )
      select id
      from ids
      where place > 0 and id is not null
      order by place`;
    return { ids: rows.slice(0, count).map(({ id }) => id), done: rows.length <= count };
  },
});

/** The names of the relations that objects of a type have, each found by one probe of an index. */
const relationNames = (sql: Sql, tenant: string, type: string) => sql`
  select min(relation) as name
  from authz.relations
  where tenant_id = ${tenant} and object_type = ${type}
  union all
  select (
    select min(relation)
    from authz.relations
    where tenant_id = ${tenant} and object_type = ${type} and relation > names.name
  )
  from names
  where names.name is not null`;

/** The least id above `ids.id` that each index has: of objects by relation, of subjects, of assigned subjects and resources. */
function nextOfEachIndex(sql: Sql, tenant: string, type: string) {
  const isLive = sql`(expires_at is null or expires_at > now())`;
  return sql`
    select (
      select object_id
      from authz.relations
      where tenant_id = ${tenant} and object_type = ${type} and relation = names.name and object_id > ids.id and ${isLive}
      order by object_id
      limit 1
    ) as id
    from names
    union all (
      select subject_id
      from authz.relations
      where tenant_id = ${tenant} and subject_type = ${type} and subject_id > ids.id and subject_id <> '*' and ${isLive}
      order by subject_id
      limit 1
    )
    union all (
      select subject_id
      from authz.assignments
      where tenant_id = ${tenant} and subject_kind = ${type} and subject_id > ids.id and ${isLive}
      order by subject_id
      limit 1
    )
    union all (
      select resource_id
      from authz.assignments
      where tenant_id = ${tenant} and resource_type = ${type} and resource_id > ids.id and ${isLive}
      order by resource_id
      limit 1
    )`;
}

function part<Key>(keys: readonly Key[], statement: (keys: readonly Key[]) => Fragment) {
  return keys.length === 0 ? [] : [statement(keys)];
}

// `offset 0` keeps each lookup a probe of one index per key, however many keys there are. Parameters are passed as sub-selects,
// which tell the planner nothing: it plans the statement once instead of for every set of keys.

function assignments(sql: Sql, tenant: string, keys: readonly (Of<'A'> & { place: number })[]) {
  return sql`
    select
      k.place, f.id, f.role_id, f.resource_type, f.resource_id, '', f.subject_kind, f.subject_id, '', f.expires_at, 0
    from unnest(
      (select ${keys.map(({ place }) => place)}::int[]), (select ${keys.map(({ subject_kind }) => subject_kind)}::text[]),
      (select ${keys.map(({ subject_id }) => subject_id)}::text[])
    ) as k (place, subject_kind, subject_id)
    cross join lateral (
      select f.id, f.role_id, f.resource_type, f.resource_id, f.subject_kind, f.subject_id, f.expires_at
      from authz.assignments f
      where f.tenant_id = (select ${tenant}::text) and f.subject_kind = k.subject_kind and f.subject_id = k.subject_id
      offset 0
    ) f`;
}

function members(sql: Sql, tenant: string, keys: readonly (Of<'M'> & { place: number })[]) {
  return sql`
    select ${tupleColumns(sql)}
    from unnest(
      (select ${keys.map(({ place }) => place)}::int[]), (select ${keys.map(({ object_type }) => object_type)}::text[]),
      (select ${keys.map(({ relation }) => relation)}::text[]), (select ${keys.map(({ object_id }) => object_id)}::text[]),
      (select ${keys.map(({ subject_type }) => subject_type)}::text[]), (select ${keys.map(({ subject_id }) => subject_id)}::text[])
    ) as k (place, object_type, relation, object_id, subject_type, subject_id)
    cross join lateral (
      select ${factColumns(sql)}
      from authz.relations f
      where f.tenant_id = (select ${tenant}::text)
        and f.object_type = k.object_type and f.relation = k.relation and f.object_id = k.object_id
        and f.subject_type = k.subject_type and f.subject_id = k.subject_id and f.subject_relation = ''
      offset 0
    ) f`;
}

function objectSets(
  sql: Sql,
  tenant: string,
  keys: readonly (Of<'U' | 'P'> & { place: number })[],
  which: Fragment,
) {
  return sql`
    select ${tupleColumns(sql)}
    from unnest(
      (select ${keys.map(({ place }) => place)}::int[]), (select ${keys.map(({ object_type }) => object_type)}::text[]),
      (select ${keys.map(({ relation }) => relation)}::text[]), (select ${keys.map(({ object_id }) => object_id)}::text[])
    ) as k (place, object_type, relation, object_id)
    cross join lateral (
      select ${factColumns(sql)}
      from authz.relations f
      where f.tenant_id = (select ${tenant}::text)
        and f.object_type = k.object_type and f.relation = k.relation and f.object_id = k.object_id and ${which}
      offset 0
    ) f`;
}

function subjects(sql: Sql, tenant: string, keys: readonly (Of<'S'> & { place: number })[]) {
  return sql`
    select ${tupleColumns(sql)}
    from unnest(
      (select ${keys.map(({ place }) => place)}::int[]), (select ${keys.map(({ subject_type }) => subject_type)}::text[]),
      (select ${keys.map(({ subject_id }) => subject_id)}::text[]),
      (select ${keys.map(({ subject_relation }) => subject_relation)}::text[])
    ) as k (place, subject_type, subject_id, subject_relation)
    cross join lateral (
      select ${factColumns(sql)}
      from authz.relations f
      where f.tenant_id = (select ${tenant}::text)
        and f.subject_type = k.subject_type and f.subject_id = k.subject_id and f.subject_relation = k.subject_relation
      offset 0
    ) f`;
}

const factColumns = (sql: Sql) => sql`
  f.id, f.object_type, f.object_id, f.relation, f.subject_type, f.subject_id, f.subject_relation, f.expires_at`;

const tupleColumns = (sql: Sql) => sql`
  k.place, f.id, '', f.object_type, f.object_id, f.relation, f.subject_type, f.subject_id, f.subject_relation,
  f.expires_at, 0`;

function assemble(
  keys: readonly SliceKey[],
  rows: readonly Row[],
): { slices: FetchedSlice[]; revision: number } {
  const tuples: TupleFact[][] = keys.map(() => []);
  const assignments: AssignmentFact[][] = keys.map(() => []);
  let revision = 0;
  for (const { place, role_id, revision: at, ...row } of rows) {
    if (place === null) revision = at;
    else if (keys[place]?.slice === 'A') assignments[place]?.push(assignmentOf(role_id, row));
    else tuples[place]?.push(row);
  }
  const slices = keys.map((key, place) =>
    key.slice === 'A' ? { key, assignments: assignments[place] ?? [] } : { key, tuples: tuples[place] ?? [] },
  );
  return { slices, revision };
}

function assignmentOf(role_id: string, row: Omit<Row, 'place' | 'role_id' | 'revision'>): AssignmentFact {
  const { id, expires_at } = row;
  return {
    ...{ id, role_id, expires_at },
    subject_kind: row.subject_type,
    subject_id: row.subject_id,
    resource_type: row.object_type,
    resource_id: row.object_id,
  };
}
