import type { PolicyAssignment } from '../../../../generated/safety/types.ts';
import type { Sql } from '../../../db/index.ts';
import { followsPrevious, onePage, type Order, type Window } from '../../../db/lists.ts';

/** A tenant has a policy once, so that the tenant tells assignments of one policy apart. */
export const newestAssigned = {
  columns: { created_at: 'time', tenant_id: 'string' },
  direction: 'desc',
} as const satisfies Order;

/** Every statement about the assignments of policies to tenants. */
export const assignmentStore = (sql: Sql) => ({
  /** The constraints refuse a second assignment. */
  async insert(tenant: string, app: string, policy: string): Promise<PolicyAssignment> {
    const [assignment] = await sql<[PolicyAssignment]>`
      insert into safety.assignment (tenant_id, app_id, policy_id) values (${tenant}, ${app}, ${policy})
      returning policy_id, tenant_id, created_at`;
    return assignment;
  },

  /** Returns false for a policy that is not assigned. */
  async delete(tenant: string, app: string, policy: string): Promise<boolean> {
    const { count } = await sql`
      delete from safety.assignment where tenant_id = ${tenant} and app_id = ${app} and policy_id = ${policy}`;
    return count > 0;
  },

  /** Lists assignments newest first, of one tenant or of all, and one more than `limit` when more follow. */
  async list(
    tenant: string | undefined,
    app: string,
    policy: string,
    window: Window<typeof newestAssigned>,
  ): Promise<PolicyAssignment[]> {
    return await sql<PolicyAssignment[]>`
      select policy_id, tenant_id, created_at from safety.assignment
      where app_id = ${app} and policy_id = ${policy}
        ${tenant === undefined ? sql`` : sql`and tenant_id = ${tenant}`}
        ${followsPrevious(sql, window)}
      ${onePage(sql, window)}`;
  },

  /** The ids of the policies of these tenants, given as parallel columns. */
  async assigned(
    tenants: readonly string[],
    apps: readonly string[],
  ): Promise<{ tenant_id: string; app_id: string; policies: string[] }[]> {
    return await sql<{ tenant_id: string; app_id: string; policies: string[] }[]>`
      select tenant_id, app_id, array_agg(policy_id) as policies
      from unnest(${[...tenants]}::text[], ${[...apps]}::text[]) as asked(tenant_id, app_id)
      join safety.assignment using (tenant_id, app_id)
      group by tenant_id, app_id`;
  },
});
