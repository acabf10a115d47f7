import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createPlinth } from '../../sdk/src/index.ts';
import { operations, services } from '../../generated/operations.ts';
import { startMock, type Mock } from './index.ts';
import { asking, credentials, json, roleId } from './testing/asking.ts';

// The first request of a service prepares it.
vi.setConfig({ testTimeout: 30_000 });

const lines: string[] = [];
let mock: Mock;
beforeAll(async () => {
  mock = await startMock({ port: 0, host: '127.0.0.1', log: { info: (text) => lines.push(text) } });
});
afterAll(() => mock.close());

const { send, post, preferring } = asking(() => mock);

describe('Prefer', () => {
  it('code answers the example of that status', async () => {
    const response = await preferring(`/authz/v1/roles/${roleId}`, 'code=404');
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ error: { code: 404, message: 'role not found' } });
  });

  it('code answers every status that an operation documents', async () => {
    for (const { status } of operations.find(({ service, id }) => service === 'authz' && id === 'Roles_list')!
      .responses) {
      expect((await preferring('/authz/v1/roles', `code=${status}`)).status).toBe(status);
    }
  });

  it('example chooses an example by its name', async () => {
    const response = await preferring(`/authz/v1/roles/${roleId}`, 'example=default');
    expect(await response.json()).toMatchObject({ id: roleId });
  });

  it('dynamic=true makes answers up that fit the schema, the same ones for the same seed', async () => {
    const made = async (seed: number): Promise<object> => {
      const scope = '/keys/v1/scopes/kscp_01m7w6qgepfq9s8vc58hzpbf9r';
      const response = await preferring(scope, `dynamic=true, seed=${seed}`);
      return (await response.json()) as object;
    };
    const one = await made(7);
    expect(one).toMatchObject({ id: expect.stringMatching(/^kscp_/), name: expect.any(String) });
    expect(Object.keys(one).sort()).toEqual([
      'app_id',
      'created_at',
      'description',
      'id',
      'name',
      'tenant_id',
    ]);
    expect(await made(7)).toEqual(one);
    expect(await made(8)).not.toEqual(one);
  });

  it.each([
    ['code=418', 'Requested status code 418 is not defined in the document.'],
    ['code=banana', 'code must be an HTTP status'],
    ['dynamic=perhaps', 'dynamic must be true or false'],
    ['example=nothing', 'there is no example nothing'],
    ['code=404, example=nothing', 'there is no example nothing'],
  ])('%s is a 400 that says why', async (prefer, why) => {
    const response = await preferring(`/authz/v1/roles/${roleId}`, prefer);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(why);
  });
});

describe('a request that the contract forbids', () => {
  it.each<[string, () => Promise<Response>, number, unknown]>([
    [
      'without credentials',
      () => fetch(`${mock.url}/keys/v1/keys`),
      401,
      { error: 'credentials are missing or invalid', code: 'UNAUTHORIZED' },
    ],
    [
      'with a missing member',
      () => post('/keys/v1/keys', {}),
      400,
      { error: 'name: required', code: 'BAD_REQUEST' },
    ],
    [
      'with a wrong type',
      () => post('/authz/v1/roles', { name: 7 }),
      400,
      { error: { code: 400, message: 'name: must be a string' } },
    ],
    [
      'with an unknown member',
      () => post('/authz/v1/roles', { name: 'x', expires: 1 }),
      400,
      { error: { code: 400, message: 'expires: unknown' } },
    ],
    [
      'with an unknown query parameter',
      () => send('/authz/v1/roles?serach=x'),
      400,
      { error: { code: 400, message: 'serach: unknown' } },
    ],
    [
      'with an id of another kind',
      () => send('/keys/v1/keys/role_01m7w4n5e0f7drekxj50y51wjg'),
      400,
      { error: 'keyId: must be an id that starts with key_', code: 'BAD_REQUEST' },
    ],
    [
      'of another content type',
      () =>
        send('/keys/v1/keys', {
          method: 'POST',
          headers: { ...credentials, 'content-type': 'text/plain' },
          body: 'x',
        }),
      415,
      { error: 'content-type: must be application/json', code: 'UNSUPPORTED_MEDIA_TYPE' },
    ],
    [
      'that is too large',
      () => post('/keys/v1/keys', { name: 'x'.repeat(1024 * 1024) }),
      413,
      { error: 'body: larger than 1048576 bytes', code: 'TOO_LARGE' },
    ],
    [
      'to an unknown path',
      () => send('/keys/v1/nothing'),
      404,
      { error: 'path not found', code: 'NOT_FOUND' },
    ],
    ['to no service', () => send('/nothing'), 404, { error: 'path not found' }],
  ])('%s is refused in the envelope of the service', async (_, request, status, body) => {
    const response = await request();
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual(body);
  });

  it('but not for the read-only members of what was read', async () => {
    const role = (await (await send(`/authz/v1/roles/${roleId}`)).json()) as unknown;
    const response = await send(`/authz/v1/roles/${roleId}`, {
      method: 'PUT',
      headers: json,
      body: JSON.stringify(role),
    });
    expect(response.status).toBe(200);
  });
});

describe('the SDK', () => {
  const plinth = (headers: Record<string, string> = {}) =>
    createPlinth({ baseUrl: mock.url, token: 'anything', retries: 0, headers });

  it('gets typed answers', async () => {
    const { key, raw_key } = await plinth().keys.keys.create({ body: { name: 'Reporting job' } });
    expect(key).toMatchObject({ name: 'Reporting job', state: 'active' });
    expect(raw_key).toMatch(/^sk_live_/);
  });

  it('walks a list to its end', async () => {
    const slugs: string[] = [];
    for await (const { slug } of plinth().authz.roles.list()) slugs.push(slug);
    expect(slugs).toEqual(['editor', 'editor']);
  });

  it('reads a stream of events', async () => {
    const events: unknown[] = [];
    for await (const event of plinth().keys.keys.changes()) events.push(event);
    expect(events).toMatchObject([{ event: 'change', data: { kind: 'key' } }]);
  });

  it('throws the documented error that a header asks for', async () => {
    const call = plinth({ prefer: 'code=409' }).authz.roles.create({ body: { name: 'Editor' } });
    await expect(call).rejects.toMatchObject({ status: 409, message: 'role slug already exists' });
  });
});

describe('other origins', () => {
  it('may ask before they send', async () => {
    const response = await fetch(`${mock.url}/authz/v1/roles`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example.com',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-methods')).toContain('POST');
    expect(response.headers.get('access-control-allow-headers')).toMatch(
      /Authorization, .*Content-Type, .*Prefer/,
    );
  });

  it('may read answers, their documented headers and errors', async () => {
    const headers = { ...credentials, origin: 'https://app.example.com' };
    for (const path of ['/authz/v1/roles', '/authz/v1/nothing']) {
      const response = await send(path, { headers });
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      const exposed = response.headers.get('access-control-expose-headers')?.split(', ');
      expect(exposed).toEqual(expect.arrayContaining(['X-Revision', 'X-Next-Cursor', 'X-Request-ID']));
    }
  });
});

describe('people', () => {
  it('get the index, and of each service its document and its reference', async () => {
    const page = await fetch(mock.url, { headers: { accept: 'text/html' } });
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    const text = await page.text();
    const { services: listed } = (await (await fetch(mock.url)).json()) as {
      services: { name: string; reference: string; document: string }[];
    };
    expect(listed.map(({ name }) => name)).toEqual(Object.keys(services));
    for (const { name, reference, document } of listed) {
      expect(text).toContain(`href="${reference}"`);
      expect(await (await fetch(`${mock.url}${reference}`)).text()).toContain(document);
      const { servers } = (await (await fetch(`${mock.url}${document}`)).json()) as { servers: unknown };
      expect(servers).toEqual([{ url: `/${name}` }]);
    }
  });

  it('are not led to pages that a mock does not have', async () => {
    const page = await (await fetch(mock.url, { headers: { accept: 'text/html' } })).text();
    expect(page).not.toContain('/healthz');
    expect((await fetch(`${mock.url}/healthz`)).status).toBe(404);
  });
});

describe('the start', () => {
  it('says which services are mocked, and where', () => {
    for (const [name, { title }] of Object.entries(services)) {
      expect(lines.join('\n')).toMatch(new RegExp(`${mock.url}/${name} +${title}, \\d+ operations`));
    }
  });

  it('says what it remembers', async () => {
    expect(lines.join('\n')).toMatch(/keeps nothing.*--stateful/s);
    const told: string[] = [];
    const log = { info: (text: string) => told.push(text) };
    const one = await startMock({ port: 0, host: '127.0.0.1', services: ['keys'], stateful: true, log });
    await one.close();
    expect(told.join('\n')).toMatch(/remembers up to 50,000 records.*X-Tenant-ID/s);
  });

  it('mocks only the services that are asked for', async () => {
    const one = await startMock({ port: 0, host: '127.0.0.1', services: ['keys'], log: { info() {} } });
    expect((await fetch(`${one.url}/keys/v1/keys`, { headers: credentials })).status).toBe(200);
    expect((await fetch(`${one.url}/authz/v1/roles`, { headers: credentials })).status).toBe(404);
    await one.close();
  });

  it('refuses a service that the contract does not have', () =>
    expect(startMock({ port: 0, host: '127.0.0.1', services: ['kyes'] })).rejects.toThrow(
      'there is no service kyes',
    ));
});
