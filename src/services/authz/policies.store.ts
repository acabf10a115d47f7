import type { Policy } from '../../../generated/authz/types.ts';
import type { Sql } from '../../db/index.ts';
import { NotFound } from '../../lib/errors.ts';
import type { PolicyRule } from './engine/types.ts';
import type { IdWindow } from './lists.ts';

export type NewPolicy = Omit<Policy, 'created_at' | 'updated_at'>;

export interface PolicyFilter {
  readonly effect?: string | undefined;
  readonly is_active?: boolean | undefined;
  readonly search?: string | undefined;
}

/** Every statement about policies. */
export const policyStore = (sql: Sql) => ({
  async get(tenant: string, id: string): Promise<Policy> {
    const [policy] = await sql<Policy[]>`
      select ${columns(sql)}
      from authz.policies
      where tenant_id = ${tenant} and id = ${id}`;
    if (!policy) throw NotFound('policy');
    return policy;
  },

  /** Newest first; `search` is part of the name, whatever the case. */
  async list(
    tenant: string,
    { effect, is_active, search, ...window }: IdWindow & PolicyFilter,
  ): Promise<Policy[]> {
    return await sql<Policy[]>`
      select ${columns(sql)}
      from authz.policies
      where tenant_id = ${tenant}
        and (${window.before}::text is null or id < ${window.before})
        and (${effect ?? null}::text is null or effect = ${effect ?? null})
        and (${is_active ?? null}::boolean is null or is_active = ${is_active ?? null})
        and (${search ?? null}::text is null or strpos(lower(name), lower(${search ?? null})) > 0)
      order by id desc
      limit ${window.limit + 1}
      offset ${window.offset}`;
  },

  async insert(policy: NewPolicy): Promise<Policy> {
    const [stored] = await sql<[Policy]>`
      insert into authz.policies (
        id, tenant_id, app_id, name, description, effect, priority, is_active, subjects, actions, resources,
        conditions, revision
      )
      values (
        ${policy.id}, ${policy.tenant_id}, ${policy.app_id}, ${policy.name}, ${policy.description}, ${policy.effect},
        ${policy.priority}, ${policy.is_active}, ${policy.subjects}, ${policy.actions},
        ${policy.resources}, ${policy.conditions}, ${policy.revision}
      )
      returning ${columns(sql)}`;
    return stored;
  },

  async update(policy: NewPolicy): Promise<Policy> {
    const [stored] = await sql<[Policy]>`
      update authz.policies
      set
        name = ${policy.name}, description = ${policy.description}, effect = ${policy.effect},
        priority = ${policy.priority}, is_active = ${policy.is_active}, subjects = ${policy.subjects},
        actions = ${policy.actions}, resources = ${policy.resources},
        conditions = ${policy.conditions}, revision = ${policy.revision}, updated_at = now()
      where tenant_id = ${policy.tenant_id} and id = ${policy.id}
      returning ${columns(sql)}`;
    return stored;
  },

  async delete(tenant: string, id: string): Promise<void> {
    await sql`
      delete from authz.policies
      where tenant_id = ${tenant} and id = ${id}`;
  },

  /** What the model needs of all policies. */
  async rules(tenant: string): Promise<PolicyRule[]> {
    return await sql<PolicyRule[]>`
      select id, name, effect, priority, is_active, subjects, actions, resources, conditions
      from authz.policies
      where tenant_id = ${tenant}`;
  },
});

const columns = (sql: Sql) => sql`
  id, tenant_id, app_id, name, description, effect, priority, is_active, subjects, actions, resources, conditions,
  revision, created_at, updated_at`;
