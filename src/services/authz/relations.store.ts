import type { Relation, RelationKey } from '../../../generated/authz/types.ts';
import type { Sql } from '../../db/index.ts';
import type { TupleFact } from './engine/types.ts';

export interface StoredTuple {
  readonly id: string;
  readonly created_at: string;
  readonly replaced: boolean;
}

export type Deleted = Relation & { readonly live: boolean };

/** Every statement that writes tuples or reads all of them. Lists are in `relation-lists.store.ts`. Expired tuples count as absent. */
export const relationStore = (sql: Sql) => ({
  async find(tenant: string, key: RelationKey): Promise<Relation | undefined> {
    const [relation] = await sql<Relation[]>`
      select ${relationColumns(sql)}
      from authz.relations
      where tenant_id = ${tenant}
        and object_type = ${key.object_type} and relation = ${key.relation} and object_id = ${key.object_id}
        and subject_type = ${key.subject_type} and subject_id = ${key.subject_id}
        and subject_relation = ${key.subject_relation}
        and (expires_at is null or expires_at > now())`;
    return relation;
  },

  /**
   * Inserts every tuple without an unexpired twin, replacing expired twins, and returns the stored tuples. They get the
   * revision to which this transaction raised the tenant. `replaced` says whether the number of rows stayed the same.
   */
  async insert(tenant: string, app: string, tuples: readonly TupleFact[]): Promise<StoredTuple[]> {
    const column = (name: keyof TupleFact) => tuples.map((tuple) => tuple[name]);
    return await sql<StoredTuple[]>`
      insert into authz.relations as held (
        id, tenant_id, app_id, object_type, object_id, relation, subject_type, subject_id, subject_relation, expires_at,
        revision
      )
      select
        id, ${tenant}, ${app}, object_type, object_id, relation, subject_type, subject_id, subject_relation, expires_at,
        (select revision from authz.tenants where tenant_id = ${tenant})
      from unnest(
        ${column('id')}::text[], ${column('object_type')}::text[], ${column('object_id')}::text[],
        ${column('relation')}::text[], ${column('subject_type')}::text[], ${column('subject_id')}::text[],
        ${column('subject_relation')}::text[], ${column('expires_at')}::timestamptz[]
      ) as given (
        id, object_type, object_id, relation, subject_type, subject_id, subject_relation, expires_at
      )
      on conflict on constraint relations_key do update
        set
          id = excluded.id, app_id = excluded.app_id, expires_at = excluded.expires_at, revision = excluded.revision,
          created_at = excluded.created_at
        where held.expires_at <= clock_timestamp()
      returning id, created_at, xmax <> 0 as replaced`;
  },

  /** Removes the tuples that exist for the keys and returns them. `live` says whether a tuple had not expired. */
  async delete(tenant: string, keys: readonly RelationKey[]): Promise<Deleted[]> {
    const column = (name: keyof RelationKey) => keys.map((key) => key[name]);
    return await sql<Deleted[]>`
      delete from authz.relations
      using unnest(
        ${column('object_type')}::text[], ${column('relation')}::text[], ${column('object_id')}::text[],
        ${column('subject_type')}::text[], ${column('subject_id')}::text[], ${column('subject_relation')}::text[]
      ) as k (o_type, o_relation, o_id, s_type, s_id, s_relation)
      where tenant_id = ${tenant}
        and object_type = o_type and relation = o_relation and object_id = o_id
        and subject_type = s_type and subject_id = s_id and subject_relation = s_relation
      returning ${relationColumns(sql)}, (expires_at is null or expires_at > clock_timestamp()) as live`;
  },

  /** Removes up to `limit` tuples of an object or of a subject and returns their keys. */
  async purge(tenant: string, of: PurgeFilter, limit: number): Promise<RelationKey[]> {
    return await sql<RelationKey[]>`
      delete from authz.relations
      where tenant_id = ${tenant} and id in (
        select id
        from authz.relations
        where tenant_id = ${tenant} and ${purged(sql, tenant, of)}
        limit ${limit}
      )
      returning object_type, object_id, relation, subject_type, subject_id, subject_relation`;
  },

  /** Returns the first relation of a type that has tuples, among the given relations or among all. */
  async findUsed(
    tenant: string,
    objectType: string,
    relations?: readonly string[],
  ): Promise<string | undefined> {
    const names =
      relations === undefined ? relationNames(sql, tenant, objectType) : sql`${relations}::text[]`;
    const [used] = await sql<{ name: string }[]>`
      select name
      from unnest(${names}) with ordinality as given (name, place)
      where exists (
        select 1
        from authz.relations
        where tenant_id = ${tenant} and object_type = ${objectType} and relation = name
          and (expires_at is null or expires_at > clock_timestamp())
      )
      order by place
      limit 1`;
    return used?.name;
  },

  /** Streams all tuples in chunks, for a model that holds all facts. */
  facts(tenant: string, chunk: number): AsyncIterable<TupleFact[]> {
    return sql<TupleFact[]>`
      select id, object_type, object_id, relation, subject_type, subject_id, subject_relation, expires_at
      from authz.relations
      where tenant_id = ${tenant}`.cursor(chunk);
  },

  /** Removes up to `limit` expired tuples of the given tenants, whose row locks the caller holds. */
  async deleteExpired(tenants: readonly string[], limit: number): Promise<Relation[]> {
    return await sql<Relation[]>`
      delete from authz.relations
      where (tenant_id, id) in (
        select tenant_id, id
        from authz.relations
        where tenant_id = any(${tenants}::text[]) and expires_at <= now()
        order by expires_at
        limit ${limit}
      )
      returning ${relationColumns(sql)}`;
  },
});

/** The object or subject whose tuples a purge removes. */
export type PurgeFilter = { readonly relation?: string | undefined } & (
  | { readonly object_type: string; readonly object_id: string }
  | { readonly subject_type: string; readonly subject_id: string }
);

function purged(sql: Sql, tenant: string, { relation, ...of }: PurgeFilter) {
  if ('subject_type' in of) {
    const subject = sql`subject_type = ${of.subject_type} and subject_id = ${of.subject_id}`;
    return relation === undefined ? subject : sql`${subject} and relation = ${relation}`;
  }
  const relations =
    relation === undefined ? relationNames(sql, tenant, of.object_type) : sql`array[${relation}]::text[]`;
  return sql`object_type = ${of.object_type} and object_id = ${of.object_id} and relation = any(${relations})`;
}

export const relationColumns = (sql: Sql) => sql`
  id, tenant_id, app_id, object_type, object_id, relation, subject_type, subject_id, subject_relation, expires_at,
  revision, created_at`;

/** The names of the relations in which objects of a type have tuples, with one index probe each. */
export const relationNames = (sql: Sql, tenant: string, objectType: string) => sql`array(
  with recursive names as (
    select min(relation) as name
    from authz.relations
    where tenant_id = ${tenant} and object_type = ${objectType}
    union all
    select (
      select min(relation)
      from authz.relations
      where tenant_id = ${tenant} and object_type = ${objectType} and relation > names.name
    )
    from names
    where names.name is not null
  )
  select name from names where name is not null
)`;
