import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventType } from '../../../../generated/webhooks/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['webhooks'] });
  api = tools(server);
  // Keeps the events in the outbox, as a consumer that has not had them would.
  await server.db.sql`insert into plinth.relay_positions (service, consumer) values ('webhooks', 'test')`;
});
afterAll(() => server.close());

const schema = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string' }, 1: { type: 'null' } },
};
const list = async (query = '') => {
  const types = (await api.send('GET', `/event-types${query}`)) as EventType[];
  return types.map(({ name }) => name);
};
const emitted = async (type: string, subject: string) => {
  const [{ count }] = await server.db.sql<[{ count: number }]>`
    select count(*)::int from webhooks.outbox where type = ${type} and subject = ${subject}`;
  return count;
};

describe('create', () => {
  it('fills in what is absent', async () => {
    const type = await api.type('invoice.paid');
    expect(type).toEqual({
      ...{ name: 'invoice.paid', description: '', group: 'invoice', schema: null, example: null },
      ...{ deprecated: false, deprecated_at: null, version: type.created_at.slice(0, 10) },
      ...{ created_at: type.created_at, updated_at: type.created_at },
    });
    expect(await api.send('GET', '/event-types/invoice.paid')).toEqual(type);
    expect(await emitted('webhooks.event_type.registered', 'invoice.paid')).toBe(1);
  });

  it('replaces an existing type as a whole and revives it', async () => {
    const first = await api.type('order.sent', {
      description: 'Sent.',
      group: 'shop',
      schema,
      example: { id: 'x' },
    });
    await api.send('DELETE', '/event-types/order.sent');
    const second = await api.type('order.sent', { version: '2' });
    expect(second).toMatchObject({
      description: '',
      group: 'order',
      version: '2',
      schema: null,
      example: null,
    });
    expect(second).toMatchObject({ deprecated: false, deprecated_at: null, created_at: first.created_at });
  });

  it('keeps the schema in its order of keys', async () => {
    const text = '{"type":"object","properties":{"b":{"type":"null"},"a":{}}}';
    await server.request('POST', '/webhooks/event-types', { body: `{"name":"ordered","schema":${text}}` });
    expect((await server.request('GET', '/webhooks/event-types/ordered')).text).toContain(`"schema":${text}`);
  });

  it('of fifty at once with one name all succeed, and one type exists', async () => {
    const types = await Promise.all(Array.from({ length: 50 }, () => api.type('raced.type')));
    expect(new Set(types.map(({ created_at }) => created_at)).size).toBe(1);
  });

  it('gives a name without dots a group of at most 64 characters', async () => {
    const name = 'n'.repeat(128);
    expect(await api.type(name)).toMatchObject({ name, group: 'n'.repeat(64) });
  });

  it.each<[string, object]>([
    ['name', { name: 'a..b' }],
    ['name', { name: 'n'.repeat(129) }],
    ['name', { name: Array(17).fill('a').join('.') }],
    ['description', { description: 'x\0' }],
    ['group', { group: 'x'.repeat(65) }],
    ['version', { version: '-1' }],
    ['schema', { schema: true }],
    ['schema: larger than 65536 bytes', { schema: { description: 'x'.repeat(65_536) } }],
    [
      'schema: reference out of the document at /properties/a',
      { schema: { properties: { a: { $ref: 'http://x' } } } },
    ],
    ['schema', { schema: { type: 'text' } }],
    ['schema: not a regular expression of RE2', { schema: { pattern: '(?=a)' } }],
    ['example', { example: [] }],
    ['example: larger than 16384 bytes', { example: { id: 'x'.repeat(16_384) } }],
    ['example: does not match the schema: /id must be string', { schema, example: { id: 1 } }],
  ])('400 names %s', async (message, body) => {
    const [status, error] = await api.refusal('POST', '/event-types', { body: { name: 'refused', ...body } });
    expect([status, error]).toEqual([400, expect.stringContaining(message)]);
    expect(await api.refusal('GET', '/event-types/refused')).toEqual([404, 'event type not found: refused']);
  });
});

describe('list', () => {
  it('is by name, in pages, with and without deprecated types', async () => {
    for (const name of ['list.b', 'list.a', 'list.C', 'list.d']) await api.type(name, { group: 'listed' });
    await api.send('DELETE', '/event-types/list.d');
    expect(await list('?group=listed')).toEqual(['list.C', 'list.a', 'list.b']);
    expect(await list('?group=listed&include_deprecated=true')).toEqual([
      'list.C',
      'list.a',
      'list.b',
      'list.d',
    ]);
    const page = await server.request('GET', '/webhooks/event-types?group=listed&limit=2');
    expect(await list(`?group=listed&limit=2&cursor=${page.headers.get('x-next-cursor')!}`)).toEqual([
      'list.b',
    ]);
    expect(await list('?group=listed&offset=2')).toEqual(['list.b']);
  });

  it('has the types of the platform when asked, unless the app registered them', async () => {
    await api.type('keys.key.created', { description: 'Ours.' });
    const asked = '?include_platform=true&limit=100&group=keys';
    const types = (await api.send('GET', `/event-types${asked}`)) as EventType[];
    expect(types.map(({ name }) => name)).toContain('keys.key.revoked');
    expect(types.filter(({ name }) => name === 'keys.key.created')).toMatchObject([{ description: 'Ours.' }]);
    expect(await list('?group=keys')).toEqual(['keys.key.created']);
    expect(await list(`${asked}&limit=1`.replace('limit=100&', ''))).toEqual(['keys.key.created']);
  });
});

describe('update', () => {
  it('changes what is present, keeps the rest and revives', async () => {
    const type = await api.type('upd.one', {
      description: 'One.',
      schema,
      example: { id: 'x' },
      version: '1',
    });
    await api.send('DELETE', '/event-types/upd.one');
    const changed = await api.send('PUT', '/event-types/upd.one', { body: { version: '2' } });
    expect(changed).toEqual({ ...type, version: '2', updated_at: changed.updated_at });
    const cleared = await api.send('PUT', '/event-types/upd.one', { body: { schema: null, example: null } });
    expect(cleared).toMatchObject({ schema: null, example: null, description: 'One.' });
  });

  it('400 when the example no longer satisfies the schema', async () => {
    await api.type('upd.two', { schema, example: { id: 'x' } });
    const message = "example: does not match the schema: data must have required property 'id'";
    expect(await api.refusal('PUT', '/event-types/upd.two', { body: { example: {} } })).toEqual([
      400,
      message,
    ]);
    expect(
      (await api.refusal('PUT', '/event-types/upd.two', { body: { schema: { maxProperties: 0 } } }))[0],
    ).toBe(400);
  });

  it('404 for a type that does not exist', async () => {
    const refusal = await api.refusal('PUT', '/event-types/none', { body: { version: '2' } });
    expect(refusal).toEqual([404, 'event type not found: none']);
  });
});

describe('delete', () => {
  it('deprecates once, and the type stays readable', async () => {
    await api.type('del.one');
    await api.send('DELETE', '/event-types/del.one');
    const deprecated = await api.send('GET', '/event-types/del.one');
    expect(deprecated).toMatchObject({ deprecated: true, deprecated_at: deprecated.updated_at });
    await api.send('DELETE', '/event-types/del.one');
    expect(await api.send('GET', '/event-types/del.one')).toEqual(deprecated);
    expect(await emitted('webhooks.event_type.deprecated', 'del.one')).toBe(1);
    expect((await api.refusal('DELETE', '/event-types/none'))[0]).toBe(404);
  });
});

it('only the operator changes the catalogue, which every tenant reads', async () => {
  await api.type('shared.type');
  const tenant = 'acme';
  expect(await api.send('GET', '/event-types/shared.type', { tenant })).toMatchObject({
    name: 'shared.type',
  });
  for (const [method, path, body] of [
    ['POST', '/event-types', { name: 'mine' }],
    ['PUT', '/event-types/shared.type', { version: '2' }],
    ['DELETE', '/event-types/shared.type', undefined],
  ] as const)
    expect(await api.refusal(method, path, { tenant, body })).toEqual([403, 'operator only']);
});
