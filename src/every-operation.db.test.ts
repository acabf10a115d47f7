import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServedName } from './app.ts';
import { operations, type Operation } from '../generated/operations.ts';
import { tools } from './services/auth/testing/index.ts';
import { newId } from './lib/ids.ts';
import { testServer, type TestResponse, type TestServer } from './testing/server.ts';

/** A place where a served operation takes a time, with the request that sets it and the paths to read afterwards. */
interface Place {
  readonly send: (at: string) => Promise<TestResponse>;
  /** Paths of lists and records that contain the written time. */
  readonly reads: readonly string[];
  /** Returns the time in the response. */
  readonly stored?: (answer: TestResponse['body']) => unknown;
}

const services: readonly ServedName[] = ['auth', 'authz', 'keys'];
const isServed = ({ service }: Operation) => (services as readonly string[]).includes(service);
let server: TestServer;
let keyId = '';
let userId = '';
let roleId = '';
beforeAll(async () => {
  server = await testServer({ services });
  userId = (await tools(server).user()).id;
  keyId = (await server.request('POST', '/keys/v1/keys', { body: { name: 'Key' } })).body.key.id;
  roleId = (await server.request('POST', '/authz/v1/roles', { body: { name: 'Editor' } })).body.id;
});
afterAll(() => server.close());

const send = (method: string, path: string, body: unknown) => server.request(method, path, { body });
let count = 0;
const tuple = () => ({
  ...{ object_type: 'document', object_id: `d${(count += 1)}`, relation: 'viewer' },
  ...{ subject_type: 'user', subject_id: 'anna' },
});

const places: Readonly<Record<string, Place>> = {
  'auth Users_ban': {
    send: (at) => send('POST', `/auth/v1/auth/users/${userId}/ban`, { expires_at: at }),
    reads: ['/auth/v1/auth/users'],
    stored: (user) => user.ban_expires_at,
  },
  'authz Assignments_create': {
    send: (at) =>
      send('POST', '/authz/v1/assignments', {
        ...{ role_id: roleId, subject_kind: 'user', subject_id: `u${(count += 1)}`, expires_at: at },
      }),
    reads: ['/authz/v1/assignments'],
    stored: (assignment) => assignment.expires_at,
  },
  'authz Relations_write': {
    send: (at) => send('POST', '/authz/v1/relations', { ...tuple(), expires_at: at }),
    reads: ['/authz/v1/relations'],
    stored: (relation) => relation.expires_at,
  },
  'authz Relations_batch': {
    send: (at) => send('POST', '/authz/v1/relations/batch', { writes: [{ ...tuple(), expires_at: at }] }),
    reads: ['/authz/v1/relations'],
  },
  'keys Keys_create': {
    send: (at) => send('POST', '/keys/v1/keys', { name: 'Key', expires_at: at }),
    reads: ['/keys/v1/keys'],
    stored: ({ key }) => key.expires_at,
  },
  'keys Keys_update': {
    send: (at) => send('PATCH', `/keys/v1/keys/${keyId}`, { expires_at: at }),
    reads: ['/keys/v1/keys', `/keys/v1/keys?limit=1000`],
    stored: (key) => key.expires_at,
  },
};

/** The error messages, after the field's name, for times that cannot be stored. */
const shape = 'must be a time such as 2026-11-20T09:30:00Z';
const range = 'must lie between 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999Z';
const refused = [
  ['9999-12-31T23:59:59-23:59', range],
  ['9999-12-31T23:59:60Z', shape],
  ['0000-01-01T00:00:00Z', range],
  ['0001-01-01T00:00:00+00:01', range],
  ['2016-12-31T24:59:60+01:00', shape],
  ['2030-12-31T23:59:60Z', shape],
  ['2030-02-29T00:00:00Z', shape],
  ['+12030-01-01T00:00:00Z', shape],
  ['infinity', shape],
  ['0001-01-01T00:00:00Z', 'must be in the future'],
] as const;

/** Times that can be stored, and the form in which they are returned. */
const kept = [
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ['9999-12-31T00:00:00-23:59', '9999-12-31T23:59:00.000Z'],
  ['2030-01-01T00:30:00.123456+01:00', '2029-12-31T23:30:00.123Z'],
] as const;

const nameOf = ({ service, id }: Operation) => `${service} ${id}`;
const served = operations
  .filter(isServed)
  .filter(
    ({ body, parameters }) =>
      body?.moments !== undefined || parameters.some(({ moments }) => moments !== undefined),
  );

it('every operation that takes a time is known here', () => {
  expect(served.map(nameOf).sort()).toEqual(Object.keys(places).sort());
});

describe.each(Object.entries(places))('%s', (_, { send: put, reads, stored }) => {
  it.each(refused)('refuses %s', async (at, said) => {
    const { status, text } = await put(at);
    expect([status, text]).toEqual([400, expect.stringContaining(`expires_at: ${said}`)]);
  });

  it.each(kept)('keeps %s', async (at, normal) => {
    const { status, body } = await put(at);
    expect(status, JSON.stringify(body)).toBeLessThan(300);
    if (stored) expect(stored(body)).toBe(normal);
    for (const path of reads) {
      const answer = await server.request('GET', path);
      expect([path, answer.status]).toEqual([path, 200]);
      expect(answer.text).toContain(normal);
    }
  });
});

describe('the bounds of a question about usage', () => {
  it.each(['from', 'to'])('%s may be any moment that there is', async (name) => {
    const ask = (at: string) =>
      server.request('GET', `/keys/v1/keys/${keyId}/usage?${name}=${encodeURIComponent(at)}`);
    for (const [at] of refused)
      expect([at, (await ask(at)).status]).toEqual([at, expect.toBeOneOf([200, 400])]);
    for (const [at] of kept) expect([at, (await ask(at)).status]).toEqual([at, expect.toBeOneOf([200, 400])]);
  });
});

describe('an id of authz', () => {
  it.each(['\u0085', 'a\u0085b', 'a\u009f', '\u0080a', 'a\u007fb'])(
    'has no control character: %j',
    async (id) => {
      for (const body of [
        { ...tuple(), object_id: id },
        { ...tuple(), subject_id: id },
      ])
        expect((await send('POST', '/authz/v1/relations', body)).status).toBe(400);
      const question = { subject_kind: 'user', subject_id: id, action: 'read', resource_type: 'document' };
      expect((await send('POST', '/authz/v1/authz/check', question)).status).toBe(400);
    },
  );
});

describe('every list', () => {
  const lists = operations
    .filter(isServed)
    .filter(({ parameters }) =>
      parameters.some(({ in: place, name }) => place === 'query' && name === 'cursor'),
    );
  /** A path of the operation, with well-formed ids. */
  const pathOf = ({ service, path }: Operation) =>
    `/${service}${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'user')}`;
  const ids: Readonly<Record<string, string>> = {
    keyId: newId('key'),
    orgId: newId('org'),
    teamId: newId('team'),
    roleId: newId('role'),
    userId: newId('user'),
    webhookId: newId('whk'),
  };
  const as = (tenant?: string) => ({ ...(tenant && { tenant }), headers: { 'x-user-id': userId } });

  it.each(lists.map((list) => [nameOf(list), list] as const))(
    'of %s refuses the cursor of another',
    async (name, list) => {
      const other = name === 'keys Keys_list' ? '/authz/v1/relations' : '/keys/v1/keys';
      const cursor = (await server.request('GET', `${other}?limit=1`)).headers.get('x-next-cursor')!;
      const { status, text } = await server.request('GET', `${pathOf(list)}?cursor=${cursor}`, as());
      expect([status, text]).toEqual([
        400,
        expect.stringContaining('cursor: must be one that this list gave'),
      ]);
    },
  );

  it('refuses its own cursor under other filters and for another tenant, and takes it with another limit', async () => {
    const ask = async (query: string, tenant?: string) =>
      server.request('GET', `/keys/v1/keys?${query}`, as(tenant));
    const cursor = (await ask('limit=1')).headers.get('x-next-cursor')!;
    expect((await ask(`cursor=${cursor}`)).status).toBe(200);
    expect((await ask(`limit=7&cursor=${cursor}`)).body.length).toBeGreaterThan(0);
    expect((await ask(`status=active&cursor=${cursor}`)).status).toBe(400);
    expect((await ask(`cursor=${cursor}`, 'elsewhere')).status).toBe(400);
    expect((await ask(`cursor=${cursor}A`)).status).toBe(400);
  });
});

describe('every service', () => {
  const paths = { auth: '/auth/v1/auth/users', authz: '/authz/v1/roles', keys: '/keys/v1/keys' };

  it.each(Object.values(paths))(
    'refuses more than one credential at %s, whichever is right',
    async (path) => {
      const bearer = ['Authorization', `Bearer ${server.rootToken}`];
      const wrong = ['Authorization', 'Bearer nonsense'];
      const key = ['X-API-Key', 'nonsense'];
      const two = 'X-API-Key: not together with Authorization, only one credential may be given';
      const twice = (name: string) => `${name}: given more than once`;
      expect((await raw(path, [bearer])).status).toBe(200);
      for (const [headers, said] of [
        [[bearer, key], two],
        [[key, bearer], two],
        [[wrong, key], two],
        [[bearer, wrong], twice('Authorization')],
        [[wrong, bearer], twice('Authorization')],
        [[bearer, bearer], twice('Authorization')],
        [[key, key], twice('X-API-Key')],
        [[bearer, ['X-Tenant-ID', 'a'], ['x-tenant-id', 'b']], twice('X-Tenant-ID')],
        [[bearer, ['X-User-ID', 'a'], ['X-User-ID', 'a']], twice('X-User-ID')],
      ] as const) {
        const { status, text } = await raw(path, headers);
        expect([status, text]).toEqual([400, expect.stringContaining(said)]);
      }
    },
  );

  /** Sends headers unchanged, even repeated ones; `fetch` would join them. */
  function raw(
    path: string,
    headers: readonly (readonly string[])[],
  ): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      const { host } = new URL(server.url);
      const outgoing = request(
        server.url + path,
        { headers: ['Host', host, ...headers.flat()] },
        (answer) => {
          let text = '';
          answer.setEncoding('utf8').on('data', (part: string) => (text += part));
          answer.on('end', () => resolve({ status: answer.statusCode!, text }));
        },
      );
      outgoing.on('error', reject).end();
    });
  }
});
