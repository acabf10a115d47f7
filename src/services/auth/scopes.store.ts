import type { Sql } from '../../db/index.ts';

/** Every statement that answers what somebody may do. */
export const scopeStore = (sql: Sql) => ({
  /**
   * The scopes of a user's roles, with those that the roles inherit: roles that hold in the whole app, and those that hold in
   * the organization.
   */
  async ofUser(tenant: string, userId: string, orgId: string | null): Promise<string[]> {
    const rows = await sql<{ scope: string }[]>`
      with recursive held as (
        select roles.id, roles.parent_id, 1 as depth
        from auth.assignments
        join auth.roles on roles.tenant_id = assignments.tenant_id and roles.id = assignments.role_id
        where assignments.tenant_id = ${tenant} and assignments.user_id = ${userId}
          and assignments.org_id in ('', ${orgId ?? ''})
        union
        select parents.id, parents.parent_id, held.depth + 1
        from held
        join auth.roles as parents on parents.tenant_id = ${tenant} and parents.id = held.parent_id
        where held.depth < 9
      )
      select distinct ${scopeOf(sql)} as scope
      from auth.permissions
      where tenant_id = ${tenant} and role_id in (select id from held)
      order by scope
      limit 500`;
    return rows.map(({ scope }) => scope);
  },

  /** The scopes of all roles of a user, in whatever organization they hold. */
  async anywhereOfUser(tenant: string, userId: string): Promise<string[]> {
    const rows = await sql<{ scope: string }[]>`
      with recursive held as (
        select roles.id, roles.parent_id, 1 as depth
        from auth.assignments
        join auth.roles on roles.tenant_id = assignments.tenant_id and roles.id = assignments.role_id
        where assignments.tenant_id = ${tenant} and assignments.user_id = ${userId}
        union
        select parents.id, parents.parent_id, held.depth + 1
        from held
        join auth.roles as parents on parents.tenant_id = ${tenant} and parents.id = held.parent_id
        where held.depth < 9
      )
      select distinct ${scopeOf(sql)} as scope
      from auth.permissions
      where tenant_id = ${tenant} and role_id in (select id from held)`;
    return rows.map(({ scope }) => scope);
  },
});

/** A permission as a scope; `*` on `*` is everything. */
export const scopeOf = (sql: Sql) => sql`
  case when permissions.resource = '*' and permissions.action = '*' then '*'
    else permissions.resource || ':' || permissions.action end`;
