import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoServer, type DemoOptions } from './fixture/server.ts';

const thing = '/v1/things/thing_01m7w4n5e0f7drekxj50y51wjg';
const raw = `sk_live_${'a'.repeat(55)}`;
type Server = Awaited<ReturnType<typeof demoServer>>;

/** Runs `use` with a server of its own. */
async function withServer(options: DemoOptions, use: (server: Server) => Promise<void>): Promise<void> {
  const server = await demoServer(options);
  await use(server).finally(() => server.close());
}

let server: Server;
beforeAll(async () => {
  server = await demoServer();
});
afterAll(() => server.close());

const seen = async (response: Promise<{ text: string }>) => JSON.parse((await response).text) as unknown;

describe('the root token', () => {
  test('is everything, in the default tenant and app', async () => {
    expect(await seen(server.send('GET', thing))).toMatchObject({
      tenant: 'default',
      app: 'default',
      actor: 'root',
      operator: true,
    });
  });

  test('speaks for whom the headers name, and is confined to a tenant that it names', async () => {
    const headers = { 'X-Tenant-ID': 'acme', 'X-App-ID': 'shop', 'X-User-ID': 'u-1', 'X-Subject-ID': 's-1' };
    expect(await seen(server.send('GET', thing, { headers }))).toMatchObject({
      ...{ tenant: 'acme', app: 'shop', actor: 'u-1', userId: 'u-1', subjectId: 's-1', operator: false },
    });
    expect(await seen(server.send('GET', thing, { headers: { 'X-Tenant-ID': 'default' } }))).toMatchObject({
      operator: false,
    });
    expect(await seen(server.send('GET', thing, { headers: { 'X-App-ID': 'shop' } }))).toMatchObject({
      operator: true,
    });
  });

  test('has the scopes that a header leaves it, and no others', async () => {
    const scoped = async (scopes: string, method: string, path: string, init = {}) => {
      const { status, message } = await server.send(method, path, {
        headers: { 'X-Scopes': scopes },
        ...init,
      });
      return [status, message];
    };
    expect(await scoped('demo:read other:*', 'GET', thing)).toEqual([200, undefined]);
    expect(await scoped('demo:read', 'DELETE', thing)).toEqual([403, 'missing scope demo:admin']);
    expect(await scoped('', 'GET', thing)).toEqual([403, 'missing scope demo:read']);
    const { text } = await server.send('GET', thing, { headers: { 'X-Scopes': 'demo:read' } });
    expect(JSON.parse(text)).toMatchObject({ operator: false });
  });

  test.each([
    ['X-Scopes', 'a\tb'],
    ['X-Tenant-ID', 'a b'],
    ['X-Tenant-ID', 'x'.repeat(65)],
    ['X-App-ID', 'a/b'],
    ['X-Tenant-ID', ''],
  ])('with a malformed %s is a 400: %j', async (name, value) => {
    const refused = await server.send('GET', thing, { headers: { [name]: value } });
    expect(refused).toMatchObject({ status: 400, message: expect.stringContaining(name) });
  });

  test.each([
    ['a wrong one', 'Bearer wrong'],
    ['none at all', undefined],
    ['another scheme', 'Basic cm9vdDpyb290'],
    ['nothing behind the scheme', 'Bearer '],
  ])('%s is a 401', async (_, authorization) => {
    const refused = await server.send('GET', thing, {
      token: null,
      headers: authorization === undefined ? {} : { authorization },
    });
    expect(refused).toMatchObject({ status: 401, message: 'credentials are missing or invalid' });
    expect(refused.headers.get('www-authenticate')).toBe('Bearer');
  });

  test('the scheme is read in any case', async () => {
    const { token } = await import('./fixture/server.ts');
    expect(
      (await server.send('GET', thing, { token: null, headers: { authorization: `bearer  ${token}` } }))
        .status,
    ).toBe(200);
  });
});

describe('an API key', () => {
  const verdict = (scopes: string[], tenant = 'acme', app = 'shop') => ({
    valid: true,
    code: 'VALID',
    key: { id: 'key_1', tenant_id: tenant, app_id: app },
    scopes,
    retry_after: null,
  });

  test('is judged with the facts of the request, in its header or as Bearer', () =>
    withServer({ verdict: verdict(['demo:read']) }, async (own) => {
      const agent = { 'user-agent': 'curl/8', origin: 'https://shop.example' };
      expect(
        await seen(own.send('GET', `${thing}?`, { token: null, headers: { 'x-api-key': raw, ...agent } })),
      ).toMatchObject({
        ...{ tenant: 'acme', app: 'shop', actor: 'key_1', operator: false },
      });
      const facts = {
        raw_key: raw,
        ip: '127.0.0.1',
        origin: 'https://shop.example',
        method: 'GET',
        endpoint: `/demo${thing}`,
        user_agent: 'curl/8',
      };
      expect(own.asked).toEqual([facts]);
      expect((await own.send('GET', thing, { token: raw })).status).toBe(200);
      expect(own.asked).toHaveLength(2);
    }));

  test('has the rights of its scopes and no others', () =>
    withServer({ verdict: verdict(['demo:read', 'other:*']) }, async (own) => {
      const send = (method: string, path: string, init = {}) =>
        own.send(method, path, { token: raw, headers: { 'X-Scopes': '*' }, ...init });
      expect((await send('POST', '/v1/things/count')).status).toBe(200);
      expect(await send('POST', '/v1/things', { body: { name: 'a' } })).toMatchObject({
        status: 403,
        message: 'missing scope demo:write',
      });
      expect(await send('DELETE', thing)).toMatchObject({ status: 403, message: 'missing scope demo:admin' });
      expect(await send('GET', '/v1/events')).toMatchObject({ status: 403, message: 'operator only' });
      expect(await seen(send('GET', '/v1/whoami'))).toEqual({
        credential: { kind: 'key', id: 'key_1' },
        tenant: 'acme',
      });
    }));

  test.each([['demo:*'], ['*'], ['demo:write']])('%s covers demo:write', (scope) =>
    withServer({ verdict: verdict([scope]) }, async (own) => {
      expect((await own.send('POST', '/v1/things', { token: raw, body: { name: 'a' } })).status).toBe(201);
    }),
  );

  test.each([
    [true, ['demo:admin', 'demo:read'], 'default', 'default'],
    [false, ['demo:write', 'demo:read'], 'default', 'default'],
    [false, ['*'], 'default', 'shop'],
    [false, ['*'], 'acme', 'default'],
  ])('is the operator, or not (%s): with %j of tenant %s and app %s', (operator, scopes, tenant, app) =>
    withServer({ verdict: verdict(scopes, tenant, app), trustedProxy: ['127.0.0.0/8'] }, async (own) => {
      expect(await seen(own.send('GET', thing, { token: raw }))).toMatchObject({ operator });
      // Even behind a trusted proxy, no header turns another app's key into an operator's key, or the reverse.
      const headers = { 'X-App-ID': app === 'default' ? 'shop' : 'default' };
      expect(await seen(own.send('GET', thing, { token: raw, headers }))).toMatchObject({ app, operator });
    }),
  );

  test('cannot choose its tenant by a header', () =>
    withServer({ verdict: verdict(['*']) }, async (own) => {
      expect(
        await seen(own.send('GET', thing, { token: raw, headers: { 'X-Tenant-ID': 'other' } })),
      ).toMatchObject({ tenant: 'acme' });
    }));

  test('that is not valid is a 401, one whose rate is used up a 429', async () => {
    expect(
      (await server.send('GET', thing, { token: null, headers: { 'x-api-key': 'nonsense' } })).status,
    ).toBe(401);
    expect((await server.send('GET', thing, { token: raw })).status).toBe(401);
    await withServer(
      { verdict: { ...verdict([]), valid: false, code: 'RATE_LIMITED', retry_after: 12 } },
      async (own) => {
        const limited = await own.send('GET', thing, { token: raw });
        expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '12']);
      },
    );
  });

  test('is what an operation for keys asks for; root has none', async () => {
    expect(await server.send('GET', '/v1/whoami')).toMatchObject({
      status: 403,
      message: 'an API key is needed',
    });
  });
});

describe('an operation', () => {
  const verdict = {
    valid: true,
    code: 'VALID',
    key: { id: 'key_1', tenant_id: 'acme', app_id: 'shop' },
    scopes: [] as string[],
    retry_after: null,
  };

  test('for users refuses who stands for none, whatever the scopes', async () => {
    const headers = { 'X-User-ID': 'u-1' };
    expect(await seen(server.send('GET', '/v1/me', { headers }))).toEqual({ userId: 'u-1' });
    const refused = { status: 403, message: 'a signed-in user is needed' };
    expect(await server.send('GET', '/v1/me')).toMatchObject(refused);
    expect((await server.send('GET', '/v1/me', { token: null, headers })).status).toBe(401);
    await withServer({ verdict: { ...verdict, scopes: ['*'] } }, async (own) => {
      expect(await own.send('GET', '/v1/me', { token: raw, headers })).toMatchObject(refused);
    });
  });

  test('for any credential takes one without scopes, and not none', () =>
    withServer({ verdict }, async (own) => {
      expect(await seen(own.send('GET', '/v1/anybody', { token: raw }))).toEqual({ actor: 'key_1' });
      expect((await own.send('GET', '/v1/anybody', { token: null })).status).toBe(401);
    }));

  test('that is public with optional credentials knows who calls, and refuses a bad credential', () =>
    withServer({ verdict }, async (own) => {
      const hello = (token: string | null, query = '') => own.send('GET', `/v1/hello${query}`, { token });
      expect(await seen(hello(raw))).toEqual({ actor: 'key_1', tenant: 'acme' });
      expect(await seen(hello(null))).toEqual({ actor: 'anonymous', tenant: 'default' });
      expect(await seen(hello(null, '?app_id=any'))).toMatchObject({ app_id: 'any' });
      expect(await hello(raw, '?app_id=other')).toMatchObject({ status: 403 });
      expect((await hello('wrong')).status).toBe(401);
    }));
});

describe('a trusted proxy', () => {
  test('names the address of the client, and nobody whom the client is not', async () => {
    const verdict = {
      valid: true,
      code: 'VALID',
      key: { id: 'key_1', tenant_id: 'acme', app_id: 'shop' },
      scopes: ['*'],
      retry_after: null,
    };
    const headers = {
      'X-Tenant-ID': 'other',
      'X-App-ID': 'other',
      'X-User-ID': 'other',
      'X-Subject-ID': 'other',
      'X-Forwarded-For': '203.0.113.9, 198.51.100.7',
    };
    const itself = { tenant: 'acme', app: 'shop', actor: 'key_1', userId: null, subjectId: null };
    await withServer({ verdict, trustedProxy: ['127.0.0.0/8'] }, async (own) => {
      expect(await seen(own.send('GET', thing, { token: raw, headers }))).toMatchObject({
        ...itself,
        ip: '198.51.100.7',
      });
      expect((await own.send('GET', thing, { token: null, headers })).status).toBe(401);
    });
    await withServer({ verdict, trustedProxy: ['10.0.0.0/8'] }, async (own) => {
      expect(await seen(own.send('GET', thing, { token: raw, headers }))).toMatchObject({
        ...itself,
        ip: '127.0.0.1',
      });
    });
  });
});

describe('without credentials', () => {
  test('public operations answer, and no header makes a caller out of nobody', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'X-Tenant-ID': 'acme' };
    expect(
      (await server.send('POST', '/v1/token', { token: null, raw: 'grant_type=a', headers })).status,
    ).toBe(200);
  });

  test('development may act as root, but not with a wrong token', () =>
    withServer({ anonymous: true }, async (own) => {
      expect(await seen(own.send('GET', thing, { token: null }))).toMatchObject({
        actor: 'root',
        operator: true,
      });
      expect(
        await seen(own.send('GET', thing, { token: null, headers: { 'X-Tenant-ID': 'acme' } })),
      ).toMatchObject({ tenant: 'acme' });
      expect((await own.send('GET', thing, { token: 'wrong' })).status).toBe(401);
    }));
});

test('who may not is told so before the body is read', async () => {
  const broken = { raw: '{"name', headers: { 'content-type': 'application/json' } };
  expect((await server.send('POST', '/v1/things', { ...broken, token: null })).status).toBe(401);
  expect((await server.send('POST', '/v1/things', broken)).status).toBe(400);
});
