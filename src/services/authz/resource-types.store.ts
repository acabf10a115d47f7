import type { ResourceType } from '../../../generated/authz/types.ts';
import type { Sql } from '../../db/index.ts';
import { NotFound } from '../../lib/errors.ts';
import type { ResourceTypeRule } from './engine/types.ts';
import type { IdWindow } from './lists.ts';

export type NewResourceType = Omit<ResourceType, 'created_at' | 'updated_at'>;

/** Every statement about resource types. */
export const resourceTypeStore = (sql: Sql) => ({
  async get(tenant: string, id: string): Promise<ResourceType> {
    const [type] = await sql<ResourceType[]>`
      select ${columns(sql)}
      from authz.resource_types
      where tenant_id = ${tenant} and id = ${id}`;
    if (!type) throw NotFound('resource type');
    return type;
  },

  /** Newest first. */
  async list(tenant: string, window: IdWindow): Promise<ResourceType[]> {
    return await sql<ResourceType[]>`
      select ${columns(sql)}
      from authz.resource_types
      where tenant_id = ${tenant}
        and (${window.before}::text is null or id < ${window.before})
      order by id desc
      limit ${window.limit + 1}
      offset ${window.offset}`;
  },

  async insert(type: NewResourceType): Promise<ResourceType> {
    const [stored] = await sql<[ResourceType]>`
      insert into authz.resource_types
        (id, tenant_id, app_id, name, description, relations, permissions, revision)
      values (
        ${type.id}, ${type.tenant_id}, ${type.app_id}, ${type.name}, ${type.description},
        ${type.relations}, ${type.permissions}, ${type.revision}
      )
      returning ${columns(sql)}`;
    return stored;
  },

  async update(type: NewResourceType): Promise<ResourceType> {
    const [stored] = await sql<[ResourceType]>`
      update authz.resource_types
      set
        description = ${type.description}, relations = ${type.relations},
        permissions = ${type.permissions}, revision = ${type.revision}, updated_at = now()
      where tenant_id = ${type.tenant_id} and id = ${type.id}
      returning ${columns(sql)}`;
    return stored;
  },

  async delete(tenant: string, id: string): Promise<void> {
    await sql`
      delete from authz.resource_types
      where tenant_id = ${tenant} and id = ${id}`;
  },

  /** Those of the named types that are declared. */
  async named(tenant: string, names: readonly string[]): Promise<Pick<ResourceType, 'name' | 'relations'>[]> {
    return await sql<Pick<ResourceType, 'name' | 'relations'>[]>`
      select name, relations
      from authz.resource_types
      where tenant_id = ${tenant} and name = any(${names}::text[])`;
  },

  /** All types of the tenant as the engine knows them: for the model, and to judge one type against the others. */
  async rules(tenant: string): Promise<ResourceTypeRule[]> {
    return await sql<ResourceTypeRule[]>`
      select id, name, relations, permissions
      from authz.resource_types
      where tenant_id = ${tenant}`;
  },
});

const columns = (sql: Sql) => sql`
  id, tenant_id, app_id, name, description, relations, permissions, revision, created_at, updated_at`;
