import type { Sql } from '../../db/index.ts';

/** The state that a write reads when it begins: its revision, the tenant's counters, and the database's clock. */
export interface TenantState extends Record<Counter, number> {
  readonly revision: number;
  /** In milliseconds since the epoch. */
  readonly now: number;
}

export type Counter = 'roles' | 'permissions' | 'policies' | 'types' | 'assignments' | 'tuples';

export interface TenantRevision {
  readonly tenant_id: string;
  readonly revision: number;
  readonly now: number;
}

/** Every statement about a tenant's revision and counters. */
export const tenantStore = (sql: Sql) => ({
  /** Takes the tenant's row lock, which serialises its writes, and the next revision. */
  async raise(tenant: string): Promise<TenantState> {
    const [state] = await sql<TenantState[]>`
      insert into authz.tenants as t (tenant_id, revision)
      values (${tenant}, 1)
      on conflict (tenant_id) do update
        set revision = t.revision + 1
      returning
        revision, roles, permissions, policies, types, assignments, tuples,
        (extract(epoch from clock_timestamp()) * 1000)::float8 as now`;
    return state!;
  },

  /** Makes all reads of the transaction use one snapshot. */
  async snapshot(): Promise<void> {
    await sql`set transaction isolation level repeatable read, read only`;
  },

  /** Returns the state at which a model is loaded. A tenant that never wrote has revision 0. */
  async find(tenant: string): Promise<TenantState> {
    const [state] = await sql<[TenantState]>`
      select
        coalesce(max(revision), 0) as revision, coalesce(max(roles), 0) as roles,
        coalesce(max(permissions), 0) as permissions, coalesce(max(policies), 0) as policies,
        coalesce(max(types), 0) as types, coalesce(max(assignments), 0) as assignments,
        coalesce(max(tuples), 0) as tuples, (extract(epoch from clock_timestamp()) * 1000)::float8 as now
      from authz.tenants
      where tenant_id = ${tenant}`;
    return state;
  },

  /** Returns the newest committed revisions in one statement. Tenants that never wrote are absent. */
  async revisions(tenants: readonly string[]): Promise<TenantRevision[]> {
    return await sql<TenantRevision[]>`
      select tenant_id, revision, (extract(epoch from clock_timestamp()) * 1000)::float8 as now
      from authz.tenants
      where tenant_id = any(${tenants}::text[])`;
  },

  /** Adds the numbers of inserted and removed rows to the counters. */
  async count(tenant: string, by: Partial<Record<Counter, number>>): Promise<void> {
    await sql`
      update authz.tenants
      set
        roles = roles + ${by.roles ?? 0},
        permissions = permissions + ${by.permissions ?? 0},
        policies = policies + ${by.policies ?? 0},
        types = types + ${by.types ?? 0},
        assignments = assignments + ${by.assignments ?? 0},
        tuples = tuples + ${by.tuples ?? 0}
      where tenant_id = ${tenant}`;
  },
});
