/**
 * A standalone `oidc-provider` with an adapter for PostgreSQL: client credentials for JWTs signed with ES256, and
 * introspection. With `noted`, each JWT is stored before it is signed, so that it can be revoked. Otherwise the library stores
 * only opaque tokens.
 */
import { generateKeyPair, exportJWK } from 'jose';
import { createServer } from 'node:http';
import { Provider, type Adapter, type AdapterPayload, type Configuration } from 'oidc-provider';
import postgres from 'postgres';
import { opaqueResource, peerClient } from '../auth/oauth-requests.ts';
import { listen } from './announce.ts';

const [url = '', mode = ''] = process.argv.slice(2);
const sql = postgres(url, { max: 10, onnotice() {} });
// Servers that share a database each have their own table.
const table = sql(`bench_oidc_${mode}`);
await sql`
  create table ${table} (
    model text, id text, payload jsonb not null, grant_id text, uid text, expires_at timestamptz, primary key (model, id)
  )`;

class Stored implements Adapter {
  readonly #model: string;
  constructor(model: string) {
    this.#model = model;
  }
  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    await sql`
      insert into ${table} (model, id, payload, grant_id, uid, expires_at)
      values (
        ${this.#model}, ${id}, ${sql.json(payload as postgres.JSONValue)}, ${payload.grantId ?? null}, ${payload.uid ?? null},
        now() + ${expiresIn ?? null} * interval '1 second'
      )
      on conflict (model, id) do update set payload = excluded.payload, expires_at = excluded.expires_at`;
  }
  async find(id: string): Promise<AdapterPayload | undefined> {
    const [found] = await sql<{ payload: AdapterPayload }[]>`
      select payload from ${table}
      where model = ${this.#model} and id = ${id} and (expires_at is null or expires_at > now())`;
    return found?.payload;
  }
  async findByUid(): Promise<undefined> {}
  async findByUserCode(): Promise<undefined> {}
  async consume(): Promise<void> {}
  async destroy(id: string): Promise<void> {
    await sql`delete from ${table} where model = ${this.#model} and id = ${id}`;
  }
  async revokeByGrantId(): Promise<void> {}
}

const { privateKey } = await generateKeyPair('ES256', { extractable: true });
const noted = new Stored('Noted');
const configuration: Configuration = {
  adapter: Stored,
  jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: 'bench' }] },
  clientAuthMethods: ['client_secret_basic'],
  scopes: [peerClient.scope],
  enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => 'urn:bench:api',
      getResourceServerInfo: (_ctx, resource) => ({
        scope: peerClient.scope,
        audience: resource,
        accessTokenTTL: 3_600,
        accessTokenFormat: resource === opaqueResource ? 'opaque' : 'jwt',
        jwt: { sign: { alg: 'ES256' } },
      }),
    },
  },
  ...(mode === 'noted' && {
    formats: {
      customizers: {
        jwt: (_ctx, token, { payload }) =>
          noted.upsert(
            String(payload['jti']),
            { clientId: token.clientId!, scope: token.scope! },
            token.expiration,
          ),
      },
    },
  }),
};

await new Stored('Client').upsert(peerClient.id, {
  client_id: peerClient.id,
  client_secret: peerClient.secret,
  grant_types: ['client_credentials'],
  redirect_uris: [],
  response_types: [],
  scope: peerClient.scope,
  id_token_signed_response_alg: 'ES256',
});
const handle = new Provider('http://127.0.0.1', configuration).callback();
listen(createServer((req, res) => void handle(req, res)));
