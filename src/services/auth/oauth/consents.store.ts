import type { Client, Consent } from '../../../../generated/auth/types.ts';
import type { Sql } from '../../../db/index.ts';
import { sha256 } from '../directory/tokens.ts';

/** The scopes that a user allowed a client, until the user revokes them. A consent is stored beside the grants, and ends with them. */
export interface ConsentOf {
  readonly tenant: string;
  readonly userId: string;
  readonly clientId: string;
}

/** A consent, with what decides how its client is shown. */
export type StoredConsent = Omit<Consent, 'client_name'> & Pick<Client, 'name' | 'self_registered'>;

/** Every statement about consents. */
export const consentStore = (sql: Sql) => ({
  async scopes({ tenant, userId, clientId }: ConsentOf): Promise<string[]> {
    const [consent] = await sql<{ scopes: string[] }[]>`
      select payload -> 'scopes' as scopes
      from auth.oidc
      where model = 'Consent' and id_hash = ${hashOf(userId, clientId)} and tenant_id = ${tenant}`;
    return consent?.scopes ?? [];
  },

  /** Adds scopes to those already allowed. */
  async add({ tenant, userId, clientId }: ConsentOf, scopes: readonly string[]): Promise<void> {
    await sql`
      insert into auth.oidc as known (model, id_hash, payload, user_id, client_id, tenant_id)
      values (
        'Consent', ${hashOf(userId, clientId)},
        jsonb_build_object('scopes', ${[...scopes].sort()}::jsonb, 'granted_at', now()), ${userId}, ${clientId}, ${tenant}
      )
      on conflict (model, id_hash) do update
      set payload = known.payload || jsonb_build_object(
        'granted_at', now(),
        'scopes', (
          select jsonb_agg(distinct scope)
          from jsonb_array_elements((known.payload -> 'scopes') || (excluded.payload -> 'scopes')) as scope
        )
      )`;
  },

  /** Lists the newest first. */
  async list(tenant: string, userId: string, limit: number): Promise<StoredConsent[]> {
    return await sql<StoredConsent[]>`
      select
        clients.id as client_id, clients.name, clients.self_registered, oidc.payload -> 'scopes' as scopes,
        (oidc.payload ->> 'granted_at')::timestamptz as granted_at,
        (oidc.payload ->> 'last_used_at')::timestamptz as last_used_at
      from auth.oidc
      join auth.clients on clients.tenant_id = oidc.tenant_id and clients.id = oidc.client_id
      where oidc.tenant_id = ${tenant} and oidc.user_id = ${userId} and oidc.model = 'Consent'
      order by granted_at desc, client_id
      limit ${limit}`;
  },

  /** Revokes the user's consent for the client; returns the grants that came from it, or undefined when there was no consent. */
  async delete({ tenant, userId, clientId }: ConsentOf): Promise<string[] | undefined> {
    const rows = await sql<{ model: string; grant_id: string | null }[]>`
      delete from auth.oidc
      where tenant_id = ${tenant} and user_id = ${userId} and client_id = ${clientId}
        and model in ('Consent', 'Grant')
      returning model, grant_id`;
    if (rows.length === 0) return undefined;
    return rows.flatMap(({ grant_id }) => (grant_id === null ? [] : [grant_id]));
  },
});

const hashOf = (userId: string, clientId: string) => sha256(`consent ${userId} ${clientId}`);
