import type { Policy } from '../../../generated/keys/types.ts';
import { constrained } from '../../db/constraints.ts';
import type { Sql } from '../../db/index.ts';
import { followsPrevious, onePage, type Window } from '../../db/lists.ts';
import { NotFound } from '../../lib/errors.ts';
import { constraints } from './errors.ts';

export type NewPolicy = Omit<Policy, 'key_count' | 'created_at' | 'updated_at'>;
export type PolicyChange = Partial<Omit<NewPolicy, 'id' | 'tenant_id' | 'app_id'>>;

/** The members of a policy that a write of a key needs. */
export type PolicyTerms = Pick<Policy, 'id' | 'allowed_scopes' | 'grace_period'>;

/** Every statement about policies. */
export const policyStore = (sql: Sql) => ({
  async insert(policy: NewPolicy): Promise<void> {
    await constrained(constraints, sql`insert into keys.policies ${sql(policy)}`);
  },

  async get(tenant: string, id: string): Promise<Policy> {
    const [policy] = await sql<Policy[]>`
      select ${columns(sql)} from keys.policies p where p.tenant_id = ${tenant} and p.id = ${id}`;
    if (!policy) throw NotFound('policy');
    return policy;
  },

  /** Returns policies newest first, and one more than `limit` when more follow. */
  async list(tenant: string, window: Window): Promise<Policy[]> {
    return await sql<Policy[]>`
      select ${columns(sql)}
      from keys.policies p
      where p.tenant_id = ${tenant} ${followsPrevious(sql, window, 'p')}
      ${onePage(sql, window, 'p')}`;
  },

  /** Locks the policy against changes and deletion for the rest of the transaction. */
  async hold(tenant: string, id: string): Promise<PolicyTerms> {
    const [policy] = await sql<PolicyTerms[]>`
      select id, allowed_scopes, grace_period
      from keys.policies
      where tenant_id = ${tenant} and id = ${id}
      for share`;
    if (!policy) throw NotFound('policy');
    return policy;
  },

  /** Locks the policy for the rest of the transaction, also against assignment to a key. */
  async lock(tenant: string, id: string): Promise<void> {
    const [policy] = await sql`
      select id from keys.policies where tenant_id = ${tenant} and id = ${id} for update`;
    if (!policy) throw NotFound('policy');
  },

  async update(tenant: string, id: string, change: PolicyChange): Promise<void> {
    await constrained(
      constraints,
      sql`
        update keys.policies
        set ${sql(change)}, updated_at = now()
        where tenant_id = ${tenant} and id = ${id}`,
    );
  },

  /** Deletes a policy. Keys that can no longer be used lose it. */
  async delete(tenant: string, id: string): Promise<void> {
    await sql`
      delete from keys.policies where tenant_id = ${tenant} and id = ${id}`;
  },

  /** Counts the policy's keys that hold a scope outside `allowed`. */
  async keysOutside(tenant: string, id: string, allowed: readonly string[]): Promise<number> {
    const [{ count }] = await sql<[{ count: number }]>`
      select count(*)::int as count
      from keys.keys k
      where ${usable(sql, sql`${tenant}`, sql`${id}`)} and exists (
        select from unnest(k.scopes) as held
        where not exists (
          select from unnest(${[...allowed]}::text[]) as allowed
          where allowed in ('*', held) or (allowed like '%:*' and starts_with(held, left(allowed, -1)))
        )
      )`;
    return count;
  },
});

type Fragment = ReturnType<Sql>;

/** The keys of a policy that are neither revoked nor deleted. */
const usable = (sql: Sql, tenant: Fragment, policy: Fragment) =>
  sql`k.tenant_id = ${tenant} and k.policy_id = ${policy} and k.state <> 'revoked' and k.deleted_at is null`;

const columns = (sql: Sql) => sql`
  p.id, p.tenant_id, p.app_id, p.name, p.description, p.rate_limit, p.rate_window, p.allowed_ips, p.allowed_origins,
  p.max_key_age, p.allowed_scopes, p.grace_period, p.require_context,
  (select count(*)::int from keys.keys k where ${usable(sql, sql`p.tenant_id`, sql`p.id`)}) as key_count,
  p.created_at, p.updated_at`;
