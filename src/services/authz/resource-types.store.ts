import type { ResourceType } from '../../../generated/authz/types.ts';
import type { Sql } from '../../db/index.ts';
import { followsPrevious, onePage, type Window } from '../../db/lists.ts';
import { NotFound } from '../../lib/errors.ts';
import type { ResourceTypeRule } from './engine/types.ts';
import type { newestIdFirst } from './lists.ts';

export type NewResourceType = Omit<ResourceType, 'created_at' | 'updated_at'>;

export interface TypeVersion {
  readonly id: string;
  readonly name: string;
  readonly revision: number;
  readonly bytes: number;
}

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

  /** Returns resource types newest first. */
  async list(tenant: string, window: Window<typeof newestIdFirst>): Promise<ResourceType[]> {
    return await sql<ResourceType[]>`
      select ${columns(sql)}
      from authz.resource_types
      where tenant_id = ${tenant}
        ${followsPrevious(sql, window)}
      ${onePage(sql, window)}`;
  },

  async insert(type: NewResourceType, bytes: number): Promise<ResourceType> {
    const [stored] = await sql<[ResourceType]>`
      insert into authz.resource_types
        (id, tenant_id, app_id, name, description, relations, permissions, revision, bytes)
      values (
        ${type.id}, ${type.tenant_id}, ${type.app_id}, ${type.name}, ${type.description},
        ${type.relations}, ${type.permissions}, ${type.revision}, ${bytes}
      )
      returning ${columns(sql)}`;
    return stored;
  },

  async update(type: NewResourceType, bytes: number): Promise<ResourceType> {
    const [stored] = await sql<[ResourceType]>`
      update authz.resource_types
      set
        description = ${type.description}, relations = ${type.relations},
        permissions = ${type.permissions}, revision = ${type.revision}, bytes = ${bytes},
        updated_at = now()
      where tenant_id = ${type.tenant_id} and id = ${type.id}
      returning ${columns(sql)}`;
    return stored;
  },

  async delete(tenant: string, id: string): Promise<void> {
    await sql`
      delete from authz.resource_types
      where tenant_id = ${tenant} and id = ${id}`;
  },

  /** Returns those of the named types that are declared. */
  async named(tenant: string, names: readonly string[]): Promise<Pick<ResourceType, 'name' | 'relations'>[]> {
    return await sql<Pick<ResourceType, 'name' | 'relations'>[]>`
      select name, relations
      from authz.resource_types
      where tenant_id = ${tenant} and name = any(${names}::text[])`;
  },

  /** Streams all types of the tenant in the engine's form, in chunks. */
  rules(tenant: string, chunk: number): AsyncIterable<ResourceTypeRule[]> {
    return sql<ResourceTypeRule[]>`
      select id, name, relations, permissions
      from authz.resource_types
      where tenant_id = ${tenant}`.cursor(chunk);
  },

  /** Returns the id, name, revision and size of every type. */
  async versions(tenant: string): Promise<TypeVersion[]> {
    return await sql<TypeVersion[]>`
      select id, name, revision, bytes
      from authz.resource_types
      where tenant_id = ${tenant}`;
  },

  /** Returns some types in the engine's form. */
  async some(tenant: string, ids: readonly string[]): Promise<(ResourceTypeRule & { revision: number })[]> {
    return await sql<(ResourceTypeRule & { revision: number })[]>`
      select id, name, relations, permissions, revision
      from authz.resource_types
      where tenant_id = ${tenant} and id = any(${ids}::text[])`;
  },
});

const columns = (sql: Sql) => sql`
  id, tenant_id, app_id, name, description, relations, permissions, revision, created_at, updated_at`;
