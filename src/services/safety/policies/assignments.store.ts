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
  /** Returns undefined for a policy that is already assigned. What a tenant assigned to itself becomes the operator's. */
  async insert(
    tenant: string,
    app: string,
    policy: string,
    byOperator: boolean,
  ): Promise<PolicyAssignment | undefined> {
    const [assignment] = await sql<PolicyAssignment[]>`
      insert into safety.assignment (tenant_id, app_id, policy_id, by_operator)
      values (${tenant}, ${app}, ${policy}, ${byOperator})
      on conflict on constraint assignment_pkey
        do update set by_operator = true where excluded.by_operator and not assignment.by_operator
      returning policy_id, tenant_id, created_at`;
    return assignment;
  },

  /** Whether the operator assigned a policy; undefined for one that is not assigned. */
  async isOperators(tenant: string, app: string, policy: string): Promise<boolean | undefined> {
    const [assignment] = await sql<{ by_operator: boolean }[]>`
      select by_operator from safety.assignment
      where tenant_id = ${tenant} and app_id = ${app} and policy_id = ${policy}`;
    return assignment?.by_operator;
  },

  async delete(tenant: string, app: string, policy: string): Promise<void> {
    await sql`
      delete from safety.assignment where tenant_id = ${tenant} and app_id = ${app} and policy_id = ${policy}`;
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

  /** The assignments of these tenants, given as parallel columns. */
  async assigned(tenants: readonly string[], apps: readonly string[]): Promise<AssignedRow[]> {
    return await sql<AssignedRow[]>`
      select tenant_id, app_id, policy_id, by_operator
      from unnest(${[...tenants]}::text[], ${[...apps]}::text[]) as asked(tenant_id, app_id)
      join safety.assignment using (tenant_id, app_id)`;
  },
});

interface AssignedRow {
  readonly tenant_id: string;
  readonly app_id: string;
  readonly policy_id: string;
  readonly by_operator: boolean;
}
