import type { Sql } from '../../db/index.ts';
import type { Counter } from './tenants.store.ts';

/** The statements of the sweeps over all tenants that no record's store contains. */
export const sweepStore = (sql: Sql) => ({
  /** Returns the tenants of the `limit` facts that expired first. */
  async tenantsWithExpired(limit: number): Promise<string[]> {
    const rows = await sql<{ tenant_id: string }[]>`
      (
        select tenant_id
        from (select tenant_id from authz.assignments where expires_at <= now() order by expires_at limit ${limit}) a
      )
      union
      (
        select tenant_id
        from (select tenant_id from authz.relations where expires_at <= now() order by expires_at limit ${limit}) r
      )`;
    return rows.map(({ tenant_id }) => tenant_id);
  },

  /** Takes the row locks of tenants, always in the same order. */
  async lock(tenants: readonly string[]): Promise<void> {
    await sql`
      select 1
      from authz.tenants
      where tenant_id = any(${tenants}::text[])
      order by tenant_id
      for update`;
  },

  /** Subtracts removed rows from the counters. `tenants` has one entry per row. */
  async discount(counter: Counter & ('assignments' | 'tuples'), tenants: readonly string[]): Promise<void> {
    await sql`
      update authz.tenants t
      set ${sql(counter)} = t.${sql(counter)} - gone.count
      from (
        select tenant_id, count(*) as count
        from unnest(${tenants}::text[]) as removed (tenant_id)
        group by tenant_id
      ) gone
      where t.tenant_id = gone.tenant_id`;
  },

  async findGoneRole(): Promise<{ tenant_id: string; role_id: string } | undefined> {
    const [role] = await sql<{ tenant_id: string; role_id: string }[]>`
      select tenant_id, role_id
      from authz.gone_roles
      order by tenant_id, role_id
      limit 1`;
    return role;
  },

  /** Removes up to `limit` assignments of a role. Returns how many it removed. */
  async deleteAssignmentsOf(tenant: string, roleId: string, limit: number): Promise<number> {
    const { count } = await sql`
      delete from authz.assignments
      where tenant_id = ${tenant} and id in (
        select id
        from authz.assignments
        where tenant_id = ${tenant} and role_id = ${roleId}
        limit ${limit}
      )`;
    return count;
  },

  async forgetGoneRole(tenant: string, roleId: string): Promise<void> {
    await sql`
      delete from authz.gone_roles
      where tenant_id = ${tenant} and role_id = ${roleId}`;
  },
});
