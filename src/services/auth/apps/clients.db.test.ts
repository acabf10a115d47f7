import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Client, IssuedClient } from '../../../../generated/auth/types.ts';
import { newId } from '../../../lib/ids.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { otherApp } from '../testing/index.ts';
import { adminTools } from '../testing/admin.ts';
import { readToken } from '../directory/tokens.ts';

let server: TestServer;
let api: ReturnType<typeof adminTools>;

beforeAll(async () => {
  server = await testServer({ services: ['auth'] });
  api = adminTools(server);
});
afterAll(() => server.close());

const path = '/oauth2/clients';
const web = { name: 'Reports', redirect_uris: ['https://reports.example.com/callback'] };
const create = (body: object = {}, options = {}): Promise<IssuedClient> =>
  api.send('POST', path, { ...options, body: { ...web, ...body } });
const get = (id: string): Promise<Client> => api.send('GET', `${path}/${id}`);

describe('a client', () => {
  it('shows its secret when it is made, and never again', async () => {
    const answer = await server.request('POST', `/auth/v1/auth${path}`, { body: web });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([201, 'no-store']);
    const { client_secret, ...client } = answer.body as IssuedClient;
    expect(client).toMatchObject({
      ...web,
      client_id: client.id,
      app_id: 'default',
      post_logout_redirect_uris: [],
      scopes: ['openid', 'profile', 'email'],
      grant_types: ['authorization_code', 'refresh_token'],
      public: false,
      skip_consent: false,
      require_pkce: false,
      access_token_ttl: 3600,
      audiences: [],
    });
    expect(readToken('sec', client_secret!)).toBeDefined();
    expect(await get(client.id)).toEqual(client);
    const [stored] = await server.db.sql<{ text: string }[]>`
      select clients::text as text from auth.clients as clients where id = ${client.id}`;
    expect(stored!.text).not.toContain(client_secret);
  });

  it('that is public has no secret and always uses PKCE', async () => {
    const client = await create({ public: true });
    expect(client).toMatchObject({ client_secret: null, require_pkce: true });
    expect(await api.refusal('POST', `${path}/${client.id}/rotate-secret`)).toEqual([
      409,
      'a public client has no secret',
    ]);
    expect(await api.refusal('PATCH', `${path}/${client.id}`, { body: { require_pkce: false } })).toEqual([
      400,
      'require_pkce: public clients always use it',
    ]);
  });

  it('is changed in what is given, and not in whether it is public', async () => {
    const client = await create();
    const changed: Client = await api.send('PATCH', `${path}/${client.id}`, {
      body: {
        ...(await get(client.id)),
        name: ' Sales ',
        access_token_ttl: 60,
        scopes: ['openid', 'openid'],
      },
    });
    expect(changed).toMatchObject({
      name: 'Sales',
      access_token_ttl: 60,
      scopes: ['openid'],
      ...omitted(web),
    });
    expect(await get(client.id)).toEqual(changed);
    expect(await api.refusal('PATCH', `${path}/${client.id}`, { body: { public: true } })).toEqual([
      400,
      'public: cannot be changed',
    ]);
    expect(await api.refusal('PATCH', `${path}/${client.id}`, { body: { redirect_uris: [] } })).toEqual([
      400,
      'redirect_uris: at least one is needed with authorization_code',
    ]);
  });

  it('is listed, newest first and page by page, with no other app', async () => {
    const other = await otherApp(server);
    const there = { tenant: other.tenant, headers: { 'X-App-ID': other.id } };
    const made = [];
    for (let count = 0; count < 3; count += 1) made.unshift((await create({}, there)).id);
    const first = await server.request('GET', `/auth/v1/auth${path}?limit=2`, there);
    expect(ids(first.body)).toEqual(made.slice(0, 2));
    const cursor = encodeURIComponent(first.headers.get('x-next-cursor')!);
    expect(ids(await api.send('GET', `${path}?limit=2&cursor=${cursor}`, there))).toEqual(made.slice(2));
  });

  it('of another app or tenant is not there', async () => {
    const other = await otherApp(server);
    const { id } = await create({}, { tenant: other.tenant, headers: { 'X-App-ID': other.id } });
    for (const wanted of [id, newId('client')])
      for (const [method, end, body] of [
        ['GET', ''],
        ['PATCH', '', { name: 'Mine' }],
        ['DELETE', ''],
        ['POST', '/rotate-secret'],
      ] as const)
        expect(await api.refusal(method, `${path}/${wanted}${end}`, { body })).toEqual([
          404,
          'client not found',
        ]);
  });

  it('is deleted with what the provider keeps for it', async () => {
    const { id } = await create();
    await server.db.sql`
      insert into auth.oidc (model, id_hash, payload, client_id, tenant_id)
      values ('Grant', decode('00', 'hex'), '{}', ${id}, 'default')`;
    expect(await api.send('DELETE', `${path}/${id}`)).toEqual({ status: 'deleted' });
    expect(await api.refusal('GET', `${path}/${id}`)).toEqual([404, 'client not found']);
    expect(await server.db.sql`select from auth.oidc where client_id = ${id}`).toHaveLength(0);
    expect(await server.db.sql`select from auth.directory where id = ${id}`).toHaveLength(0);
    expect(await server.db.sql`select effect from auth.changes where kind = 'client' and id = ${id}`).toEqual(
      [{ effect: 'refuse' }],
    );
  });
});

describe('guarded scopes of a client', () => {
  it('are given only by who holds them', async () => {
    const token = await api.holding('auth:write', 'retrieval:read');
    const refused = [
      403,
      'cannot give retrieval:write, which the caller does not hold',
      'grant_exceeds_caller',
    ];
    const scopes = ['openid', 'retrieval:read', 'own:thing'];
    const { id } = await create({ scopes }, { token });
    const more = { scopes: [...scopes, 'retrieval:write'] };
    expect(await api.refusal('POST', path, { token, body: { ...web, ...more } })).toEqual(refused);
    expect(await api.refusal('PATCH', `${path}/${id}`, { token, body: more })).toEqual(refused);
  });

  it('keep those who do not hold them from its secret and its redirect URIs', async () => {
    const token = await api.holding('auth:write');
    const { id } = await create({ scopes: ['retrieval:write'] });
    const refused = [
      403,
      'cannot give retrieval:write, which the caller does not hold',
      'grant_exceeds_caller',
    ];
    expect(await api.refusal('POST', `${path}/${id}/rotate-secret`, { token })).toEqual(refused);
    const body = { redirect_uris: ['https://elsewhere.example.com/'] };
    expect(await api.refusal('PATCH', `${path}/${id}`, { token, body })).toEqual(refused);
    expect(await api.send('PATCH', `${path}/${id}`, { token, body: { name: 'Other' } })).toMatchObject({
      name: 'Other',
    });
    const beyond = [
      403,
      'the client holds retrieval:write, which the caller does not',
      'grant_exceeds_caller',
    ];
    expect(await api.refusal('PATCH', `${path}/${id}`, { token, body: { scopes: [] } })).toEqual(beyond);
    expect(await api.refusal('DELETE', `${path}/${id}`, { token })).toEqual(beyond);
    expect(await api.send('PATCH', `${path}/${id}`, { body: { scopes: [] } })).toMatchObject({
      scopes: [],
    });
  });
});

const ids = ({ clients }: { clients: Client[] }) => clients.map(({ id }) => id);
const omitted = ({ name: _, ...rest }: typeof web) => rest;
