import type { Policy } from '../../../generated/keys/types.ts';
import { constrained } from '../../db/constraints.ts';
import type { Sql } from '../../db/index.ts';
import { Conflict, NotFound } from '../../lib/errors.ts';
import type { Place, Window } from '../../http/lists.ts';

export type NewPolicy = Omit<Policy, 'key_count' | 'created_at' | 'updated_at'>;
export type PolicyChange = Partial<Omit<NewPolicy, 'id' | 'tenant_id' | 'app_id'>>;

/** What a key has to know of its policy while it is written. */
export type PolicyTerms = Pick<Policy, 'id' | 'allowed_scopes' | 'grace_period'>;

/** Every statement about policies. */
export const policyStore = (sql: Sql) => ({
  async insert(policy: NewPolicy): Promise<void> {
    await constrained(names, sql`insert into keys.policies ${sql(policy)}`);
  },

  async get(tenant: string, id: string): Promise<Policy> {
    const [policy] = await sql<Policy[]>`
      select ${columns(sql)} from keys.policies p where p.tenant_id = ${tenant} and p.id = ${id}`;
    if (!policy) throw NotFound('policy');
    return policy;
  },

  /** Newest first; one more than `limit` when more follow. */
  async list(tenant: string, { limit, offset, after }: Window<Place>): Promise<Policy[]> {
    return await sql<Policy[]>`
      select ${columns(sql)}
      from keys.policies p
      where p.tenant_id = ${tenant} ${after === null ? sql`` : isAfter(sql, after)}
      order by p.created_at desc, p.id
      limit ${limit + 1}
      offset ${offset}`;
  },

  /** For as long as the transaction lasts nobody changes or deletes the policy. */
  async hold(tenant: string, id: string): Promise<PolicyTerms> {
    const [policy] = await sql<PolicyTerms[]>`
      select id, allowed_scopes, grace_period
      from keys.policies
      where tenant_id = ${tenant} and id = ${id}
      for share`;
    if (!policy) throw NotFound('policy');
    return policy;
  },

  /** For as long as the transaction lasts no key is given the policy either. */
  async lock(tenant: string, id: string): Promise<void> {
    const [policy] = await sql`
      select id from keys.policies where tenant_id = ${tenant} and id = ${id} for update`;
    if (!policy) throw NotFound('policy');
  },

  async update(tenant: string, id: string, change: PolicyChange): Promise<void> {
    await constrained(
      names,
      sql`
        update keys.policies
        set ${sql(change)}, updated_at = now()
        where tenant_id = ${tenant} and id = ${id}`,
    );
  },

  /** Keys that can no longer be used lose the policy with it. */
  async delete(tenant: string, id: string): Promise<void> {
    await sql`
      delete from keys.policies where tenant_id = ${tenant} and id = ${id}`;
  },

  /** How many of the policy's keys hold a scope that `allowed` does not cover. */
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

const names = { policies_name: () => Conflict('policy name already exists') };

type Fragment = ReturnType<Sql>;

/** The keys of a policy that are neither revoked nor deleted. */
const usable = (sql: Sql, tenant: Fragment, policy: Fragment) =>
  sql`k.tenant_id = ${tenant} and k.policy_id = ${policy} and k.state <> 'revoked' and k.deleted_at is null`;

const isAfter = (sql: Sql, { created_at, id }: Place) =>
  sql`and p.created_at <= ${created_at} and (p.created_at < ${created_at} or p.id > ${id})`;

const columns = (sql: Sql) => sql`
  p.id, p.tenant_id, p.app_id, p.name, p.description, p.rate_limit, p.rate_window, p.allowed_ips, p.allowed_origins,
  p.max_key_age, p.allowed_scopes, p.grace_period, p.require_context,
  (select count(*)::int from keys.keys k where ${usable(sql, sql`p.tenant_id`, sql`p.id`)}) as key_count,
  p.created_at, p.updated_at`;
