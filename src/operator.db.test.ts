import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../generated/auth/types.ts';
import { adminTools } from './services/auth/testing/admin.ts';
import { mint } from './services/auth/testing/tokens.ts';
import { testServer, type TestRequest, type TestServer } from './testing/server.ts';

let server: TestServer;
let api: ReturnType<typeof adminTools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth', 'keys'], env: { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' } });
  api = adminTools(server);
});
afterAll(() => server.close());

/** Creates a user who holds every scope in the given app, by default in the operator's own app. */
async function masterOf(app?: App) {
  const place = app === undefined ? {} : { app };
  const master = await api.signedIn(place);
  await api.give(master.user, place, ['*']);
  return master;
}

async function keyOf(app?: App): Promise<string> {
  const { body } = await server.request('POST', '/keys/v1/keys', {
    ...(app === undefined ? {} : { headers: { 'X-App-ID': app.id } }),
    body: { name: 'Master', scopes: ['*'] },
  });
  return body.raw_key;
}

/** Makes calls that only the operator may make, and returns their results. */
async function operatorCalls(request: TestRequest, token: string) {
  const call = async (method: string, path: string, body?: object) => {
    const answer = await server.request(method, path, { ...request, body });
    return answer.status === 403 ? answer.body.error : answer.status;
  };
  return [
    await call('POST', '/auth/v1/auth/tokens/resolve', { token }),
    await call('GET', '/auth/v1/auth/signing-keys'),
    await call('POST', '/auth/v1/auth/signing-keys/rotate'),
  ];
}
const streams = (request: TestRequest) =>
  Promise.all(
    ['/auth/v1/auth/tokens/changes', '/keys/v1/changes'].map(async (path) => {
      const gone = new AbortController();
      const headers: Record<string, string> =
        request.apiKey === undefined
          ? { authorization: `Bearer ${request.token ?? ''}` }
          : { 'x-api-key': request.apiKey };
      const { status } = await fetch(server.url + path, { headers, signal: gone.signal });
      gone.abort();
      return status;
    }),
  );

describe('an app of the operator, which is not the own one', () => {
  it('has admins that are no operators, by whatever credential', async () => {
    const app = await api.app();
    const master = await masterOf(app);
    const { session_token } = await api.signedIn();
    const credentials: TestRequest[] = [
      { token: master.session_token },
      {
        token: await mint(server.db, { sub: master.user.id, scope: 'auth:admin keys:admin', app_id: app.id }),
      },
      { apiKey: await keyOf(app) },
    ];
    for (const credential of credentials) {
      expect(await operatorCalls(credential, session_token)).toEqual(Array(3).fill('operator only'));
      expect(await streams(credential)).toEqual([403, 403]);
    }
  });

  it('has keys that ask about those of their tenant only', async () => {
    const apiKey = await keyOf(await api.app());
    const { body } = await server.request('POST', '/keys/v1/keys', {
      tenant: 'acme',
      body: { name: 'Theirs', scopes: [] },
    });
    const validate = async (key: string) =>
      (
        await server.request('POST', '/keys/v1/keys/validate', {
          apiKey: key,
          body: { raw_key: body.raw_key },
        })
      ).body.valid;
    expect([await validate(apiKey), await validate(await keyOf())]).toEqual([false, true]);
  });
});

it('an app has no way to the keys of another one, though it holds the same', async () => {
  const app = await api.app();
  const { session_token: token } = await masterOf(app);
  const issue = async (headers: Record<string, string>, body: object) =>
    (await server.request('POST', '/keys/v1/keys', { headers, body: { name: 'Key', ...body } })).body.key;
  const key = await issue({}, { scopes: ['*'] });
  const own = await issue({ 'X-App-ID': app.id }, { scopes: ['*'] });
  const plain = await issue({}, { scopes: ['mine'] });
  const { body: scopes } = await server.request('GET', '/keys/v1/scopes?limit=100');
  const all = scopes.find(({ name }: { name: string }) => name === '*');
  await server.request('POST', `/keys/v1/keys/${key.id}/suspend`);
  const call = async (method: string, path: string, body?: object) => {
    const answer = await server.request(method, `/keys/v1${path}`, { token, body });
    return [answer.status, answer.body?.error];
  };
  const refused = [403, "scope exceeds the caller's own, which are of another app than the key: *"];
  expect(await call('POST', `/keys/${key.id}/reactivate`)).toEqual(refused);
  await server.request('POST', `/keys/v1/keys/${key.id}/reactivate`);
  expect(await call('POST', `/keys/${key.id}/rotate`, {})).toEqual(refused);
  expect(await call('POST', `/keys/${plain.id}/scopes`, { scopes: ['*'] })).toEqual(refused);
  expect(await call('DELETE', `/keys/${key.id}/scopes`, { scopes: ['*'] })).toEqual(refused);
  expect(await call('DELETE', `/scopes/${all.id}`)).toEqual(refused);
  expect((await call('POST', `/keys/${own.id}/rotate`, {}))[0]).toBe(200);
  const root = { headers: { 'X-App-ID': app.id } };
  expect((await server.request('POST', `/keys/v1/keys/${key.id}/rotate`, { ...root, body: {} })).status).toBe(
    200,
  );
});

describe("the operator's own app", () => {
  it('has admins that are operators, and so is root', async () => {
    const { session_token } = await api.signedIn();
    const master = await masterOf();
    for (const credential of [
      { token: master.session_token },
      { apiKey: await keyOf() },
      { token: server.rootToken },
    ]) {
      expect(await operatorCalls(credential, session_token)).toEqual([200, 200, 200]);
      expect(await streams(credential)).toEqual([200, 200]);
    }
  });
});
