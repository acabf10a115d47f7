import type { Policy } from '../../../generated/authz/types.ts';
import type { Sql } from '../../db/index.ts';
import { followsPrevious, onePage, type Window } from '../../db/lists.ts';
import { NotFound } from '../../lib/errors.ts';
import type { PolicySize } from './engine/policies.ts';
import type { PolicyRule } from './engine/types.ts';
import type { newestIdFirst } from './lists.ts';

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

  /** Returns policies newest first. `search` matches a part of the name, ignoring case. */
  async list(
    tenant: string,
    { effect, is_active, search }: PolicyFilter,
    window: Window<typeof newestIdFirst>,
  ): Promise<Policy[]> {
    return await sql<Policy[]>`
      select ${columns(sql)}
      from authz.policies
      where tenant_id = ${tenant}
        ${followsPrevious(sql, window)}
        and (${effect ?? null}::text is null or effect = ${effect ?? null})
        and (${is_active ?? null}::boolean is null or is_active = ${is_active ?? null})
        and (${search ?? null}::text is null or strpos(lower(name), lower(${search ?? null})) > 0)
      ${onePage(sql, window)}`;
  },

  async insert(policy: NewPolicy, size: PolicySize): Promise<Policy> {
    const [stored] = await sql<[Policy]>`
      insert into authz.policies (
        id, tenant_id, app_id, name, description, effect, priority, is_active, subjects, actions, resources,
        conditions, revision, bytes, wildcards, instructions
      )
      values (
        ${policy.id}, ${policy.tenant_id}, ${policy.app_id}, ${policy.name}, ${policy.description}, ${policy.effect},
        ${policy.priority}, ${policy.is_active}, ${policy.subjects}, ${policy.actions},
        ${policy.resources}, ${policy.conditions}, ${policy.revision}, ${size.bytes}, ${size.wildcards}, ${size.instructions}
      )
      returning ${columns(sql)}`;
    return stored;
  },

  async update(policy: NewPolicy, size: PolicySize): Promise<Policy> {
    const [stored] = await sql<[Policy]>`
      update authz.policies
      set
        name = ${policy.name}, description = ${policy.description}, effect = ${policy.effect},
        priority = ${policy.priority}, is_active = ${policy.is_active}, subjects = ${policy.subjects},
        actions = ${policy.actions}, resources = ${policy.resources},
        conditions = ${policy.conditions}, revision = ${policy.revision}, bytes = ${size.bytes},
        wildcards = ${size.wildcards}, instructions = ${size.instructions}, updated_at = now()
      where tenant_id = ${policy.tenant_id} and id = ${policy.id}
      returning ${columns(sql)}`;
    return stored;
  },

  async delete(tenant: string, id: string): Promise<void> {
    await sql`
      delete from authz.policies
      where tenant_id = ${tenant} and id = ${id}`;
  },

  /** Returns the size of all policies of a tenant, and the size of one of them. */
  async sizes(tenant: string, id: string): Promise<{ all: PolicySize; own: PolicySize }> {
    const [{ all_bytes, all_wildcards, all_instructions, ...own }] = await sql<
      [PolicySize & { all_bytes: number; all_wildcards: number; all_instructions: number }]
    >`
      select
        coalesce(sum(bytes), 0)::float8 as all_bytes, coalesce(sum(wildcards), 0)::int as all_wildcards,
        coalesce(sum(instructions), 0)::float8 as all_instructions,
        coalesce(sum(bytes) filter (where id = ${id}), 0)::float8 as bytes,
        coalesce(sum(wildcards) filter (where id = ${id}), 0)::float8 as wildcards,
        coalesce(sum(instructions) filter (where id = ${id}), 0)::float8 as instructions
      from authz.policies
      where tenant_id = ${tenant}`;
    return { own, all: { bytes: all_bytes, wildcards: all_wildcards, instructions: all_instructions } };
  },

  /** Streams the members of all policies that the model needs, in chunks. */
  rules(tenant: string, chunk: number): AsyncIterable<PolicyRule[]> {
    return sql<PolicyRule[]>`
      select id, name, effect, priority, is_active, subjects, actions, resources, conditions
      from authz.policies
      where tenant_id = ${tenant}`.cursor(chunk);
  },
});

const columns = (sql: Sql) => sql`
  id, tenant_id, app_id, name, description, effect, priority, is_active, subjects, actions, resources, conditions,
  revision, created_at, updated_at`;
