import type { KeyState } from '../../../../generated/keys/types.ts';
import type { Sql } from '../../../db/index.ts';

/** The secret that a hash names, its key and its policy, as one row. */
export interface LookupRow {
  readonly hash: string;
  readonly secret_created_at: string;
  readonly grace_ends_at: string | null;
  readonly dead: boolean;
  readonly id: string;
  readonly name: string;
  readonly state: KeyState;
  readonly tenant_id: string;
  readonly app_id: string;
  readonly environment: string;
  readonly owner_id: string | null;
  readonly policy_id: string | null;
  readonly expires_at: string | null;
  readonly metadata: Record<string, unknown>;
  readonly scopes: string[];
  readonly policy: PolicyRow | null;
}

/** The members of a policy that a validation needs. */
export interface PolicyRow {
  readonly rate_limit: number;
  readonly rate_window: string;
  readonly allowed_ips: string[];
  readonly allowed_origins: string[];
  readonly max_key_age: string | null;
  readonly require_context: boolean;
}

/** A secret to look for: the tenant whose keys are searched, and the hash (lower-case hexadecimal). */
export interface Wanted {
  readonly tenant: string;
  readonly hash: string;
}

/** The reads behind a validation that its cache cannot answer. */
export function lookupStore(sql: Sql) {
  return {
    /** Reads all requested secrets in one statement. Does not find deleted keys. */
    async secrets(wanted: readonly Wanted[]): Promise<LookupRow[]> {
      return await sql<LookupRow[]>`
        select
          wanted.hash, secrets.created_at as secret_created_at, secrets.grace_ends_at,
          secrets.dead_at is not null as dead,
          keys.id, keys.name, keys.state, keys.tenant_id, keys.app_id, keys.environment, keys.owner_id, keys.policy_id,
          keys.expires_at, keys.metadata, keys.scopes,
          case when policies.id is not null then
            jsonb_build_object(
              'rate_limit', policies.rate_limit,
              'rate_window', policies.rate_window,
              'allowed_ips', policies.allowed_ips,
              'allowed_origins', policies.allowed_origins,
              'max_key_age', policies.max_key_age,
              'require_context', policies.require_context
            )
          end as policy
        from unnest(
          ${wanted.map(({ tenant }) => tenant)}::text[],
          ${wanted.map(({ hash }) => hash)}::text[]
        ) as wanted(tenant_id, hash)
        join keys.secrets on secrets.tenant_id = wanted.tenant_id and secrets.hash = decode(wanted.hash, 'hex')
        join keys.keys on keys.tenant_id = secrets.tenant_id and keys.id = secrets.key_id and keys.deleted_at is null
        left join keys.policies on policies.tenant_id = keys.tenant_id and policies.id = keys.policy_id
      `;
    },

    /** Returns the tenants whose keys have these tags. */
    async tenants(tags: readonly string[]): Promise<{ tag: string; tenant_id: string }[]> {
      return await sql<{ tag: string; tenant_id: string }[]>`
        select tag, tenant_id from keys.tenants where tag = any(${tags}::text[])
      `;
    },

    /** Returns the limit that a policy sets, or undefined when the policy does not exist. */
    async findRate(
      tenant: string,
      policy: string,
    ): Promise<{ rate_limit: number; rate_window: string } | undefined> {
      const [rate] = await sql<{ rate_limit: number; rate_window: string }[]>`
        select rate_limit, rate_window from keys.policies where tenant_id = ${tenant} and id = ${policy}
      `;
      return rate;
    },
  };
}
