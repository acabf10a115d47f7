import type { Permission, Role } from '../../../../generated/auth/types.ts';
import { constrained } from '../../../db/constraints.ts';
import type { Sql } from '../../../db/index.ts';
import { followsPrevious, onePage, type Window } from '../../../db/lists.ts';
import { NotFound } from '../../../lib/errors.ts';
import { constraints } from '../errors.ts';
import { scopeOf } from './scopes.store.ts';

export type NewRole = Pick<Role, 'id' | 'app_id' | 'name' | 'slug' | 'description' | 'parent_id'> & {
  readonly tenant_id: string;
};

/** How many steps of inheritance are followed: one more than allowed, so that an overlong chain is detected. */
const mostSteps = 9;

/** Every statement about roles and their permissions. */
export const roleStore = (sql: Sql) => ({
  async get(tenant: string, app: string, id: string): Promise<Role> {
    const [role] = await sql<Role[]>`
      select ${roleColumns(sql)}
      from auth.roles
      where tenant_id = ${tenant} and app_id = ${app} and id = ${id}`;
    if (!role) throw NotFound('role');
    return role;
  },

  /** Lists the newest first; returns one more than `limit` when more follow. */
  async list(tenant: string, app: string, window: Window): Promise<Role[]> {
    return await sql<Role[]>`
      select ${roleColumns(sql)}
      from auth.roles
      where tenant_id = ${tenant} and app_id = ${app}
        ${followsPrevious(sql, window)}
      ${onePage(sql, window)}`;
  },

  /** Returns the role, locked against other changes until the end of the transaction. */
  async lock(tenant: string, app: string, id: string): Promise<Role> {
    const [role] = await sql<Role[]>`
      select ${roleColumns(sql)}
      from auth.roles
      where tenant_id = ${tenant} and app_id = ${app} and id = ${id}
      for update`;
    if (!role) throw NotFound('role');
    return role;
  },

  /** Returns the role with the slug, locked as by `lock`; undefined when the app has none. */
  async lockBySlug(tenant: string, app: string, slug: string): Promise<Role | undefined> {
    const [role] = await sql<Role[]>`
      select ${roleColumns(sql)}
      from auth.roles
      where tenant_id = ${tenant} and app_id = ${app} and slug = ${slug}
      for update`;
    return role;
  },

  async insert(role: NewRole): Promise<Role> {
    const [inserted] = await constrained(
      constraints,
      sql<[Role]>`insert into auth.roles ${sql(role)} returning ${roleColumns(sql)}`,
    );
    return inserted;
  },

  async update(
    tenant: string,
    { id, app_id, name, description, parent_id }: Pick<Role, keyof NewRole & keyof Role>,
  ): Promise<Role> {
    const [updated] = await sql<[Role]>`
      update auth.roles
      set name = ${name}, description = ${description}, parent_id = ${parent_id}, updated_at = now()
      where tenant_id = ${tenant} and app_id = ${app_id} and id = ${id}
      returning ${roleColumns(sql)}`;
    return updated;
  },

  /** Deletes the role with its permissions and assignments; its children lose their parent. */
  async delete(tenant: string, app: string, id: string): Promise<void> {
    await sql`
      update auth.roles set parent_id = null, updated_at = now()
      where tenant_id = ${tenant} and app_id = ${app} and parent_id = ${id}`;
    await sql`delete from auth.roles where tenant_id = ${tenant} and app_id = ${app} and id = ${id}`;
  },

  /** Returns the ids of the role and of those that it inherits from, nearest first. */
  async chain(tenant: string, app: string, id: string): Promise<string[]> {
    const rows = await sql<{ id: string }[]>`
      with recursive chain as (
        select id, parent_id, 0 as steps
        from auth.roles
        where tenant_id = ${tenant} and app_id = ${app} and id = ${id}
        union all
        select parents.id, parents.parent_id, chain.steps + 1
        from chain
        join auth.roles as parents
          on parents.tenant_id = ${tenant} and parents.app_id = ${app} and parents.id = chain.parent_id
        where chain.steps < ${mostSteps}
      )
      select id from chain order by steps`;
    return rows.map((row) => row.id);
  },

  /** Returns the number of steps in the longest chain of roles that inherit from this one. */
  async height(tenant: string, app: string, id: string): Promise<number> {
    const [{ height }] = await sql<[{ height: number }]>`
      with recursive heirs as (
        select id, 0 as steps
        from auth.roles
        where tenant_id = ${tenant} and app_id = ${app} and id = ${id}
        union all
        select children.id, heirs.steps + 1
        from heirs
        join auth.roles as children
          on children.tenant_id = ${tenant} and children.app_id = ${app} and children.parent_id = heirs.id
        where heirs.steps < ${mostSteps}
      )
      select coalesce(max(steps), 0) as height from heirs`;
    return height;
  },

  /** Returns the distinct scopes of these roles' own permissions. */
  async scopes(tenant: string, roleIds: readonly string[]): Promise<string[]> {
    const rows = await sql<{ scope: string }[]>`
      select distinct ${scopeOf(sql)} as scope
      from auth.permissions
      where tenant_id = ${tenant} and role_id = any(${[...roleIds]}::text[])
      order by scope`;
    return rows.map(({ scope }) => scope);
  },

  async insertPermission(
    permission: Pick<Permission, 'id' | 'role_id' | 'action' | 'resource'> & { readonly tenant_id: string },
  ): Promise<Permission> {
    const [inserted] = await constrained(
      constraints,
      sql<[Permission]>`
        insert into auth.permissions ${sql(permission)} returning ${permissionColumns(sql)}`,
    );
    return inserted;
  },

  async countPermissions(tenant: string, roleId: string): Promise<number> {
    const [{ count }] = await sql<[{ count: number }]>`
      select count(*)::int as count from auth.permissions where tenant_id = ${tenant} and role_id = ${roleId}`;
    return count;
  },

  async permissions(tenant: string, roleId: string): Promise<Permission[]> {
    return await sql<Permission[]>`
      select ${permissionColumns(sql)}
      from auth.permissions
      where tenant_id = ${tenant} and role_id = ${roleId}
      order by created_at desc, id desc
      limit 200`;
  },

  async deletePermission(tenant: string, roleId: string, id: string): Promise<Permission> {
    const [deleted] = await sql<Permission[]>`
      delete from auth.permissions
      where tenant_id = ${tenant} and role_id = ${roleId} and id = ${id}
      returning ${permissionColumns(sql)}`;
    if (!deleted) throw NotFound('permission');
    return deleted;
  },
});

export const roleColumns = (sql: Sql) => sql`
  roles.id, roles.app_id, roles.name, roles.slug, roles.description, roles.parent_id, roles.system, roles.created_at,
  roles.updated_at`;

const permissionColumns = (sql: Sql) => sql`
  permissions.id, permissions.role_id, permissions.action, permissions.resource, ${scopeOf(sql)} as scope,
  permissions.created_at`;
