import type { Sql } from '../../db/index.ts';
import type { Change } from './engine/types.ts';

export interface TenantChange {
  readonly tenant_id: string;
  readonly change: Change;
}

/** Every statement about the change log, which models in other processes follow. */
export const changeStore = (sql: Sql) => ({
  /** Appends the changes of one revision, in order. */
  async append(tenant: string, revision: number, changes: readonly Change[]): Promise<void> {
    await sql`
      insert into authz.changes (tenant_id, revision, seq, entity, op, body)
      select ${tenant}, ${revision}, c.seq, c.entity, c.op, c.body::jsonb
      from unnest(
        ${changes.map((_, seq) => seq)}::int[],
        ${changes.map((change) => change.entity)}::text[],
        ${changes.map((change) => change.op)}::text[],
        ${changes.map((change) => JSON.stringify(change.body))}::text[]
      ) as c (seq, entity, op, body)`;
  },

  /**
   * Returns the changes of several tenants since the revision that each of them is at. Returns nothing for a tenant whose log
   * was pruned past that revision: its model stays behind the newest revision and has to be reloaded.
   */
  async since(tenants: readonly { tenant: string; revision: number }[]): Promise<TenantChange[]> {
    const rows = await sql<(Change & { tenant_id: string })[]>`
      select c.tenant_id, c.revision, c.entity, c.op, c.body
      from unnest(
        ${tenants.map(({ tenant }) => tenant)}::text[],
        ${tenants.map(({ revision }) => revision)}::bigint[]
      ) as p (tenant_id, revision)
      join authz.tenants t on t.tenant_id = p.tenant_id and t.floor_revision <= p.revision
      join authz.changes c on c.tenant_id = p.tenant_id and c.revision > p.revision
      order by c.tenant_id, c.revision, c.seq`;
    return rows.map(({ tenant_id, ...change }) => ({ tenant_id, change }));
  },

  /** Removes up to `limit` rows older than `age` milliseconds and records how far back the log still reaches. */
  async prune(age: number, limit: number): Promise<number> {
    const [{ pruned }] = await sql<[{ pruned: number }]>`
      with old as (
        delete from authz.changes
        where (tenant_id, revision, seq) in (
          select tenant_id, revision, seq
          from authz.changes
          where created_at < now() - ${age} * interval '1 millisecond'
          order by created_at
          limit ${limit}
        )
        returning tenant_id, revision
      ), newest as (
        select tenant_id, max(revision) as revision
        from old
        group by tenant_id
      ), raised as (
        update authz.tenants t
        set floor_revision = greatest(t.floor_revision, newest.revision)
        from newest
        where t.tenant_id = newest.tenant_id
      )
      select count(*)::int as pruned from old`;
    return pruned;
  },
});
