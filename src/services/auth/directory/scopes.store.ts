import type { Fragment, Sql } from '../../../db/index.ts';

/** Every statement that tells what a user may do. */
export const scopeStore = (sql: Sql) => ({
  /**
   * Returns, in the order of the input and by one statement, the scopes of each user's app-wide roles, including inherited ones.
   */
  async ofUsers(holders: readonly { tenant: string; user: string }[]): Promise<string[][]> {
    const rows = await sql<{ scopes: string[] }[]>`
      with recursive asked as materialized (
        select * from unnest(
          ${holders.map((_, at) => at)}::int[],
          ${holders.map(({ tenant }) => tenant)}::text[],
          ${holders.map(({ user }) => user)}::text[]
        ) as asked(place, tenant_id, user_id)
      ), held as (
        select asked.place, roles.tenant_id, roles.id, roles.parent_id, 1 as depth
        from asked
        join auth.assignments
          on assignments.tenant_id = asked.tenant_id and assignments.user_id = asked.user_id
            and assignments.org_id = ''
        join auth.roles on roles.tenant_id = assignments.tenant_id and roles.id = assignments.role_id
        union
        select held.place, parents.tenant_id, parents.id, parents.parent_id, held.depth + 1
        from held
        join auth.roles as parents on parents.tenant_id = held.tenant_id and parents.id = held.parent_id
        where held.depth < 9
      ), granted as (
        select held.place, array_agg(distinct ${scopeOf(sql)}) as scopes
        from held
        join auth.permissions on permissions.tenant_id = held.tenant_id and permissions.role_id = held.id
        group by held.place
      )
      select coalesce(granted.scopes[1:500], '{}') as scopes
      from asked
      left join granted on granted.place = asked.place
      order by asked.place`;
    return rows.map(({ scopes }) => scopes);
  },

  /** Returns the app-wide scopes of one user. */
  async ofUser(tenant: string, user: string): Promise<string[]> {
    const [scopes = []] = await scopeStore(sql).ofUsers([{ tenant, user }]);
    return scopes;
  },

  /** Returns the scopes of all roles of a user, in every organization. */
  async anywhereOfUser(tenant: string, userId: string): Promise<string[]> {
    return await scopesOf(
      sql,
      tenant,
      sql`
      select roles.id, roles.parent_id, 1 as depth
      from auth.assignments
      join auth.roles on roles.tenant_id = assignments.tenant_id and roles.id = assignments.role_id
      where assignments.tenant_id = ${tenant} and assignments.user_id = ${userId}`,
    );
  },

  /** Returns all scopes that any user holds in the app, in every organization. */
  async anywhereInApp(tenant: string, app: string): Promise<string[]> {
    return await scopesOf(
      sql,
      tenant,
      sql`
      select roles.id, roles.parent_id, 1 as depth
      from auth.roles
      where roles.tenant_id = ${tenant} and roles.app_id = ${app}
        and exists (
          select from auth.assignments
          where assignments.tenant_id = roles.tenant_id and assignments.role_id = roles.id
        )`,
    );
  },
});

/** Returns the scopes of some roles of a tenant and of the roles above them; `roles` selects id, parent_id and the depth 1. */
async function scopesOf(sql: Sql, tenant: string, roles: Fragment): Promise<string[]> {
  const rows = await sql<{ scope: string }[]>`
    with recursive held as (
      ${roles}
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
}

/** A permission as a scope; `*` on `*` is everything. */
export const scopeOf = (sql: Sql) => sql`
  case when permissions.resource = '*' and permissions.action = '*' then '*'
    else permissions.resource || ':' || permissions.action end`;
