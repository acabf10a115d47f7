import type { Permission } from '../../../generated/authz/types.ts';
import type { Sql } from '../../db/index.ts';
import { followsPrevious, onePage, type Window } from '../../db/lists.ts';
import { NotFound } from '../../lib/errors.ts';
import type { PermissionRule } from './engine/types.ts';
import type { newestIdFirst } from './lists.ts';

export interface PermissionFilter {
  readonly resource?: string | undefined;
  readonly action?: string | undefined;
  readonly search?: string | undefined;
}

/** Every statement about permissions. */
export const permissionStore = (sql: Sql) => ({
  async get(tenant: string, id: string): Promise<Permission> {
    const [permission] = await sql<Permission[]>`
      select ${permissionColumns(sql)}
      from authz.permissions
      where tenant_id = ${tenant} and id = ${id}`;
    if (!permission) throw NotFound('permission');
    return permission;
  },

  /** Returns permissions newest first. `search` matches a part of the name, ignoring case. */
  async list(
    tenant: string,
    { resource, action, search }: PermissionFilter,
    window: Window<typeof newestIdFirst>,
  ): Promise<Permission[]> {
    return await sql<Permission[]>`
      select ${permissionColumns(sql)}
      from authz.permissions
      where tenant_id = ${tenant}
        ${followsPrevious(sql, window)}
        and (${resource ?? null}::text is null or resource = ${resource ?? null})
        and (${action ?? null}::text is null or action = ${action ?? null})
        and (${search ?? null}::text is null or strpos(lower(name), lower(${search ?? null})) > 0)
      ${onePage(sql, window)}`;
  },

  async insert(permission: Omit<Permission, 'created_at'>): Promise<Permission> {
    const [stored] = await sql<[Permission]>`
      insert into authz.permissions (id, tenant_id, app_id, name, resource, action, description, revision)
      values (
        ${permission.id}, ${permission.tenant_id}, ${permission.app_id}, ${permission.name}, ${permission.resource},
        ${permission.action}, ${permission.description}, ${permission.revision}
      )
      returning ${permissionColumns(sql)}`;
    return stored;
  },

  /** Removes the permission and its attachments. */
  async delete(tenant: string, id: string): Promise<void> {
    await sql`
      with detached as (
        delete from authz.role_permissions
        where tenant_id = ${tenant} and permission_id = ${id}
      )
      delete from authz.permissions
      where tenant_id = ${tenant} and id = ${id}`;
  },

  /** Returns the members of all permissions that the model needs. */
  async rules(tenant: string): Promise<PermissionRule[]> {
    return await sql<PermissionRule[]>`
      select id, resource, action
      from authz.permissions
      where tenant_id = ${tenant}`;
  },
});

export const permissionColumns = (sql: Sql) =>
  sql`id, tenant_id, app_id, name, resource, action, description, revision, created_at`;
