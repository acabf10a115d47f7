import type { Client } from '../../../../generated/auth/types.ts';
import type { Sql } from '../../../db/index.ts';
import { followsPrevious, onePage, type Window } from '../../../db/lists.ts';
import { NotFound } from '../../../lib/errors.ts';

export type NewClient = Omit<Client, 'client_id' | 'created_at' | 'updated_at'> & {
  readonly tenant_id: string;
  /** SHA-256; null for public clients. */
  readonly secret_hash: Buffer | null;
};

/** A client as the provider reads it, with the hashes of its secrets. */
export interface ClientRow extends Pick<
  Client,
  | 'id'
  | 'name'
  | 'logo_url'
  | 'redirect_uris'
  | 'post_logout_redirect_uris'
  | 'scopes'
  | 'grant_types'
  | 'public'
  | 'skip_consent'
  | 'require_pkce'
  | 'access_token_ttl'
  | 'audiences'
  | 'token_endpoint_auth_method'
  | 'jwks'
  | 'jwks_uri'
  | 'dpop_bound_access_tokens'
  | 'backchannel_logout_uri'
  | 'self_registered'
> {
  readonly tenant: string;
  readonly app: string;
  readonly secret_hash: Buffer | null;
  readonly previous_secret_hash: Buffer | null;
  readonly previous_until: string | null;
}

/** Every statement about OAuth clients. */
export const clientStore = (sql: Sql) => ({
  /** Stores the client and its directory entry. */
  async insert({ id, tenant_id, ...client }: NewClient): Promise<Client> {
    await sql`insert into auth.directory (id, tenant_id) values (${id}, ${tenant_id})`;
    const [inserted] = await sql<[Client]>`
      insert into auth.clients ${sql({ id, tenant_id, ...client })} returning ${clientColumns(sql)}`;
    return inserted;
  },

  async get(tenant: string, app: string, id: string): Promise<Client> {
    const [client] = await sql<Client[]>`
      select ${clientColumns(sql)}
      from auth.clients
      where tenant_id = ${tenant} and app_id = ${app} and id = ${id}`;
    if (!client) throw NotFound('client');
    return client;
  },

  /** Returns the client, locked against other changes until the end of the transaction. */
  async lock(tenant: string, app: string, id: string): Promise<Client> {
    const [client] = await sql<Client[]>`
      select ${clientColumns(sql)}
      from auth.clients
      where tenant_id = ${tenant} and app_id = ${app} and id = ${id}
      for update`;
    if (!client) throw NotFound('client');
    return client;
  },

  /** Returns the id of the only client of the app that did not register itself; undefined if there are none or several. */
  async onlyOf(tenant: string, app: string): Promise<string | undefined> {
    const found = await sql<{ id: string }[]>`
      select id
      from auth.clients
      where tenant_id = ${tenant} and app_id = ${app} and not self_registered and cardinality(redirect_uris) > 0
      limit 2`;
    return found.length === 1 ? found[0]!.id : undefined;
  },

  /** Lists the newest first; returns one more than `limit` when more follow. */
  async list(tenant: string, app: string, window: Window): Promise<Client[]> {
    return await sql<Client[]>`
      select ${clientColumns(sql)}
      from auth.clients
      where tenant_id = ${tenant} and app_id = ${app}
        ${followsPrevious(sql, window)}
      ${onePage(sql, window)}`;
  },

  async update(
    tenant: string,
    client: Omit<Client, 'client_id' | 'created_at' | 'updated_at'>,
  ): Promise<Client> {
    const { id, app_id, public: _, ...changeable } = client;
    const [updated] = await sql<[Client]>`
      update auth.clients set ${sql(changeable)}, updated_at = now()
      where tenant_id = ${tenant} and app_id = ${app_id} and id = ${id}
      returning ${clientColumns(sql)}`;
    return updated;
  },

  /** Removes the secrets of a client that now has keys of its own. */
  async forgetSecrets(tenant: string, id: string): Promise<void> {
    await sql`
      update auth.clients set secret_hash = null, previous_secret_hash = null, previous_until = null
      where tenant_id = ${tenant} and id = ${id}`;
  },

  /** The old secret continues to work for `graceMs`. */
  async replaceSecret(
    tenant: string,
    { id, app_id }: Pick<Client, 'id' | 'app_id'>,
    hash: Buffer,
    graceMs: number,
  ): Promise<Client> {
    const [updated] = await sql<[Client]>`
      update auth.clients
      set secret_hash = ${hash}, previous_secret_hash = secret_hash,
        previous_until = now() + ${graceMs} * interval '1 millisecond', updated_at = now()
      where tenant_id = ${tenant} and app_id = ${app_id} and id = ${id}
      returning ${clientColumns(sql)}`;
    return updated;
  },

  /** Ends every grant that users gave the client, with the tokens issued from it. */
  async endGrants(id: string): Promise<void> {
    await sql`delete from auth.oidc where client_id = ${id}`;
  },

  /** Deletes the client with everything that the provider stores for it. */
  async delete(tenant: string, app: string, id: string): Promise<void> {
    await sql`
      with gone as (
        delete from auth.clients where tenant_id = ${tenant} and app_id = ${app} and id = ${id}
        returning self_registered
      )
      update auth.registration_counts set clients = clients - 1
      where tenant_id = ${tenant} and app_id = ${app} and exists (select from gone where self_registered)`;
    await sql`delete from auth.directory where tenant_id = ${tenant} and id = ${id}`;
    await clientStore(sql).endGrants(id);
  },

  /** Returns these clients of any tenant: the directory tells which. Clients of deleted apps are omitted. */
  async known(ids: readonly string[]): Promise<ClientRow[]> {
    return await sql<ClientRow[]>`
      select
        clients.id, clients.tenant_id as tenant, clients.app_id as app, clients.name, clients.logo_url,
        clients.redirect_uris, clients.post_logout_redirect_uris, clients.scopes, clients.grant_types, clients.public,
        clients.skip_consent, clients.require_pkce, clients.access_token_ttl, clients.audiences,
        clients.token_endpoint_auth_method, clients.jwks, clients.jwks_uri, clients.dpop_bound_access_tokens,
        clients.backchannel_logout_uri, clients.self_registered,
        clients.secret_hash, clients.previous_secret_hash, clients.previous_until
      from auth.directory
      join auth.clients on clients.tenant_id = directory.tenant_id and clients.id = directory.id
      join auth.apps
        on apps.tenant_id = clients.tenant_id and apps.id = clients.app_id and apps.deleted_at is null
      where directory.id = any(${[...ids]}::text[])`;
  },
});

const clientColumns = (sql: Sql) => sql`
  clients.id, clients.id as client_id, clients.app_id, clients.name, clients.logo_url,
  clients.redirect_uris, clients.post_logout_redirect_uris, clients.scopes, clients.grant_types, clients.public, clients.skip_consent,
  clients.require_pkce, clients.access_token_ttl, clients.audiences, clients.token_endpoint_auth_method,
  clients.jwks, clients.jwks_uri, clients.dpop_bound_access_tokens, clients.backchannel_logout_uri,
  clients.backchannel_logout_session_required, clients.self_registered, clients.created_at, clients.updated_at`;
