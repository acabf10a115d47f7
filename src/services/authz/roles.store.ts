import type { Permission, Role } from '../../../generated/authz/types.ts';
import type { Sql } from '../../db/index.ts';
import { followsPrevious, onePage, type Window } from '../../db/lists.ts';
import { NotFound } from '../../lib/errors.ts';
import type { RolePermission, RoleRule } from './engine/types.ts';
import type { newestIdFirst } from './lists.ts';
import { permissionColumns } from './permissions.store.ts';

export type NewRole = Omit<Role, 'created_at' | 'updated_at'>;

/** Every statement about roles and the permissions attached to them. */
export const roleStore = (sql: Sql) => ({
  async get(tenant: string, id: string): Promise<Role> {
    const [role] = await sql<Role[]>`
      select ${columns(sql)}
      from authz.roles
      where tenant_id = ${tenant} and id = ${id}`;
    if (!role) throw NotFound('role');
    return role;
  },

  /** Returns roles newest first. `search` matches a part of the name or the slug, ignoring case. */
  async list(
    tenant: string,
    { search }: { search?: string | undefined },
    window: Window<typeof newestIdFirst>,
  ): Promise<Role[]> {
    return await sql<Role[]>`
      select ${columns(sql)}
      from authz.roles
      where tenant_id = ${tenant}
        ${followsPrevious(sql, window)}
        and (${search ?? null}::text is null
          or strpos(lower(name), lower(${search ?? null})) > 0
          or strpos(slug, lower(${search ?? null})) > 0)
      ${onePage(sql, window)}`;
  },

  async insert(role: NewRole): Promise<Role> {
    const [stored] = await sql<[Role]>`
      insert into authz.roles
        (id, tenant_id, app_id, name, slug, description, parent_id, is_system, is_default, metadata, revision)
      values (
        ${role.id}, ${role.tenant_id}, ${role.app_id}, ${role.name}, ${role.slug}, ${role.description},
        ${role.parent_id}, ${role.is_system}, ${role.is_default}, ${role.metadata}, ${role.revision}
      )
      returning ${columns(sql)}`;
    return stored;
  },

  async update(role: NewRole): Promise<Role> {
    const [stored] = await sql<[Role]>`
      update authz.roles
      set
        name = ${role.name}, description = ${role.description}, parent_id = ${role.parent_id},
        is_system = ${role.is_system}, is_default = ${role.is_default}, metadata = ${role.metadata},
        revision = ${role.revision}, updated_at = now()
      where tenant_id = ${role.tenant_id} and id = ${role.id}
      returning ${columns(sql)}`;
    return stored;
  },

  /** Removes the role and its attachments, and records that its assignments are to be removed. */
  async delete(tenant: string, id: string): Promise<void> {
    await sql`
      with gone as (
        delete from authz.roles
        where tenant_id = ${tenant} and id = ${id}
      ), detached as (
        delete from authz.role_permissions
        where tenant_id = ${tenant} and role_id = ${id}
      )
      insert into authz.gone_roles (tenant_id, role_id)
      values (${tenant}, ${id})`;
  },

  /** Returns every role with its parent, to check a new parent. */
  async parents(tenant: string): Promise<Pick<Role, 'id' | 'parent_id'>[]> {
    return await sql<Pick<Role, 'id' | 'parent_id'>[]>`
      select id, parent_id
      from authz.roles
      where tenant_id = ${tenant}`;
  },

  async isParent(tenant: string, id: string): Promise<boolean> {
    const [found] = await sql`
      select 1
      from authz.roles
      where tenant_id = ${tenant} and parent_id = ${id}
      limit 1`;
    return found !== undefined;
  },

  /** Attaches a permission. The constraint rejects a second attachment. */
  async attach(tenant: string, roleId: string, permissionId: string, revision: number): Promise<void> {
    await sql`
      insert into authz.role_permissions (tenant_id, role_id, permission_id, revision)
      values (${tenant}, ${roleId}, ${permissionId}, ${revision})`;
  },

  async countPermissions(tenant: string, roleId: string): Promise<number> {
    const [{ count }] = await sql<[{ count: number }]>`
      select count(*)::int as count
      from authz.role_permissions
      where tenant_id = ${tenant} and role_id = ${roleId}`;
    return count;
  },

  async detach(tenant: string, roleId: string, permissionId: string): Promise<void> {
    const { count } = await sql`
      delete from authz.role_permissions
      where tenant_id = ${tenant} and role_id = ${roleId} and permission_id = ${permissionId}`;
    if (count === 0) throw NotFound('permission');
  },

  /** Returns the permissions of a role, newest first; with `inherited`, also those of its ancestors. */
  async listPermissions(
    tenant: string,
    roleId: string,
    { inherited }: { inherited: boolean },
    window: Window<typeof newestIdFirst>,
  ): Promise<Permission[]> {
    return await sql<Permission[]>`
      with recursive chain as (
        select id, parent_id
        from authz.roles
        where tenant_id = ${tenant} and id = ${roleId}
        union all
        select r.id, r.parent_id
        from chain
        join authz.roles r on r.tenant_id = ${tenant} and r.id = chain.parent_id
        where ${inherited}
      )
      select ${permissionColumns(sql)}
      from authz.permissions
      where tenant_id = ${tenant}
        ${followsPrevious(sql, window)}
        and id in (
          select permission_id
          from authz.role_permissions
          where tenant_id = ${tenant} and role_id in (select id from chain)
        )
      ${onePage(sql, window)}`;
  },

  /** Returns the members of all roles that the model needs. */
  async rules(tenant: string): Promise<RoleRule[]> {
    return await sql<RoleRule[]>`
      select id, slug, parent_id, is_default
      from authz.roles
      where tenant_id = ${tenant}`;
  },

  async attachments(tenant: string): Promise<RolePermission[]> {
    return await sql<RolePermission[]>`
      select role_id, permission_id
      from authz.role_permissions
      where tenant_id = ${tenant}`;
  },
});

const columns = (sql: Sql) => sql`
  id, tenant_id, app_id, name, slug, description, parent_id, is_system, is_default, metadata, revision, created_at,
  updated_at`;
