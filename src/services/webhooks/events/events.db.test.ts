import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Delivery, Event, EventBatchResult } from '../../../../generated/webhooks/types.ts';
import { testServer, type TestRequest, type TestServer } from '../../../testing/server.ts';
import { runSweep } from '../../../db/sweeps.ts';
import { readSettings } from '../../../lib/settings.ts';
import { settings } from '../settings.ts';
import { tools } from '../testing.ts';
import { orderKeySweep } from './sweeps.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['webhooks'], env: { PLINTH_WEBHOOKS_DISPATCH: 'off' } });
  api = tools(server);
  await api.type('invoice.paid');
});
afterAll(() => server.close());

const absent = 'evt_01m7w4n5e0ex5vsknk084sn02q';
let tenants = 0;
const newTenant = () => `tenant-${tenants++}`;
const post = (body: unknown, options: TestRequest = {}) =>
  server.request('POST', '/webhooks/events', { ...options, body });
const batch = async (events: object[], options: TestRequest = {}): Promise<EventBatchResult['results']> =>
  (await api.send('POST', '/events/batch', { ...options, body: { events } })).results;
const stored = async (tenant: string) => {
  const [{ events, deliveries }] = await server.db.sql<[{ events: number; deliveries: number }]>`
    select (select count(*)::int from webhooks.event where tenant_id = ${tenant}) as events,
      (select count(*)::int from webhooks.delivery where tenant_id = ${tenant}) as deliveries`;
  return { events, deliveries };
};

describe('create', () => {
  it('stores the event with a delivery for each matching endpoint', async () => {
    const tenant = newTenant();
    const [one, two] = await Promise.all(
      [1, 2].map(() => api.endpoint({ event_types: ['invoice.*'] }, { tenant })),
    );
    const { status, body: event } = await post(
      {
        type: 'invoice.paid',
        data: { b: 1, a: [1.5] },
        idempotency_key: 'k',
        order_key: 'o',
        channels: ['x', 'y', 'x'],
      },
      { tenant },
    );
    expect(status).toBe(201);
    expect(event).toEqual({
      ...{
        id: event.id,
        type: 'invoice.paid',
        tenant_id: tenant,
        app_id: 'default',
        data: { b: 1, a: [1.5] },
      },
      ...{
        idempotency_key: 'k',
        order_key: 'o',
        channels: ['x', 'y'],
        delivery_count: 2,
        created_at: event.created_at,
      },
    });
    expect(await api.send('GET', `/events/${event.id}`, { tenant })).toEqual(event);
    const deliveries = (await api.send('GET', `/events/${event.id}/deliveries`, { tenant })) as Delivery[];
    expect(new Set(deliveries.map(({ endpoint_id }) => endpoint_id))).toEqual(new Set([one!.id, two!.id]));
    for (const delivery of deliveries)
      expect(delivery).toMatchObject({
        event_type: 'invoice.paid',
        state: 'pending',
        attempt_count: 0,
        max_attempts: 10,
      });
  });

  it('fills in what is absent; no match is no error', async () => {
    const event = await api.event({ type: 'invoice.paid' }, { tenant: newTenant() });
    expect(event).toMatchObject({
      data: {},
      idempotency_key: null,
      order_key: null,
      channels: [],
      delivery_count: 0,
    });
  });

  it('keeps the order of keys', async () => {
    const text = '{"z":1,"a":{"y":2,"b":3}}';
    const { body } = await post(`{"type":"invoice.paid","data":${text}}`);
    expect((await server.request('GET', `/webhooks/events/${body.id as string}`)).text).toContain(
      `"data":${text}`,
    );
  });

  it.each<[string, unknown]>([
    ['type', {}],
    ['type', { type: 'a b' }],
    ['data', { type: 'invoice.paid', data: [] }],
    ['data', { type: 'invoice.paid', data: { a: '\0' } }],
    ['data', `{"type":"invoice.paid","data":{"a":"\\ud800"}}`],
    ['data', `{"type":"invoice.paid","data":{"a":1e999}}`],
    ['data', `{"type":"invoice.paid","data":{"a":12345678901234567890}}`],
    ['data', `{"type":"invoice.paid","data":{"a":1,"a":2}}`],
    ['idempotency_key', { type: 'invoice.paid', idempotency_key: '' }],
    ['idempotency_key', { type: 'invoice.paid', idempotency_key: 'x'.repeat(256) }],
    ['order_key', { type: 'invoice.paid', order_key: 'a\0' }],
    ['channels', { type: 'invoice.paid', channels: Array(17).fill('a') }],
    ['unknown', { type: 'invoice.paid', unknown: 1 }],
  ])('400 names %s', async (field, body) => {
    const [status, error] = await api.refusal('POST', '/events', { body });
    expect([status, error]).toEqual([400, expect.stringContaining(field)]);
  });

  it('takes 256 KiB of data and no more, 60 levels and no more', async () => {
    const sized = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });
    expect((await post({ type: 'invoice.paid', data: sized(262_144) })).status).toBe(201);
    expect(
      await api.refusal('POST', '/events', { body: { type: 'invoice.paid', data: sized(262_145) } }),
    ).toEqual([413, 'data: larger than 262144 bytes']);
    const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) });
    expect((await post({ type: 'invoice.paid', data: nested(60) })).status).toBe(201);
    for (const levels of [61, 65])
      expect(
        (await api.refusal('POST', '/events', { body: { type: 'invoice.paid', data: nested(levels) } }))[0],
      ).toBe(400);
  });
});

describe('the catalogue', () => {
  const refused = async (type: string, data: object = {}) => {
    const tenant = newTenant();
    await api.endpoint({}, { tenant });
    const refusal = await api.refusal('POST', '/events', { tenant, body: { type, data } });
    expect(await stored(tenant)).toEqual({ events: 0, deliveries: 0 });
    return refusal;
  };

  it('decides, and what it refuses leaves nothing behind', async () => {
    const schema = { properties: { amount: { type: 'integer' } }, required: ['amount'] };
    await api.type('judged.type', { schema });
    expect(await refused('judged.none')).toEqual([404, 'event type not found: judged.none']);
    expect(await refused('judged.type', { amount: 'x' })).toEqual([
      400,
      'data does not match the schema of judged.type: /amount must be integer',
    ]);
    await api.event({ type: 'judged.type', data: { amount: 1 } });
    await api.send('DELETE', '/event-types/judged.type');
    expect(await refused('judged.type', { amount: 1 })).toEqual([
      400,
      'event type is deprecated: judged.type',
    ]);
  });

  it('that another process changed applies to the next event', async () => {
    const { sql } = server.db;
    await api.type('changed.type');
    const send = (data: object) => api.refusal('POST', '/events', { body: { type: 'changed.type', data } });
    expect((await send({ a: 1 }))[0]).toBe(201);
    const schema = '{"properties":{"a":{"type":"string"}}}';
    await sql`update webhooks.event_type set schema = ${schema}::text::json, schema_hash = 'other' where name = 'changed.type'`;
    expect((await send({ a: 1 }))[0]).toBe(400);
    expect((await send({ a: 'x' }))[0]).toBe(201);
    await sql`update webhooks.event_type set schema = null, schema_hash = null where name = 'changed.type'`;
    expect((await send({ a: 1 }))[0]).toBe(201);
    await sql`update webhooks.event_type set deprecated_at = now() where name = 'changed.type'`;
    expect((await send({ a: 1 }))[0]).toBe(400);
    await sql`update webhooks.event_type set deprecated_at = null where name = 'changed.type'`;
    expect((await send({ a: 1 }))[0]).toBe(201);
    await sql`delete from webhooks.event_type where name = 'changed.type'`;
    expect((await send({ a: 1 }))[0]).toBe(404);
  });

  it('knows the types of the platform, which only the operator may send unregistered', async () => {
    const tenant = newTenant();
    await api.endpoint({ event_types: ['keys.*'] }, { tenant });
    const body = { type: 'keys.key.revoked', tenant_id: tenant, data: { any: 'thing' } };
    expect(await api.event(body)).toMatchObject({ tenant_id: tenant, delivery_count: 1 });
    expect(await api.refusal('POST', '/events', { tenant, body })).toEqual([
      404,
      'event type not found: keys.key.revoked',
    ]);
    expect((await api.refusal('POST', '/events', { body: { ...body, type: 'keys.unknown' } }))[0]).toBe(404);
  });
});

describe('patterns', () => {
  const names = [
    'invoice',
    'invoice.paid',
    'invoice.paid.late',
    'invoice.payment.failed',
    'invoices.paid',
    'Invoice.paid',
  ];
  it.each([
    ['invoice.*', ['invoice.paid', 'invoice.paid.late', 'invoice.payment.failed']],
    ['invoice.paid', ['invoice.paid']],
    ['invoice.paid.*', ['invoice.paid.late']],
    ['*', names],
  ])('%s matches %j', async (pattern, expected) => {
    const tenant = newTenant();
    await Promise.all(names.map((name) => api.type(name)));
    await api.endpoint({ event_types: [pattern] }, { tenant });
    const results = await batch(
      names.map((type) => ({ type })),
      { tenant },
    );
    const matched = results.filter(({ event }) => event!.delivery_count === 1);
    expect(matched.map(({ event }) => event!.type)).toEqual(expected);
  });

  it('that overlap give one delivery; disabled and deleted endpoints, other tenants and other apps give none', async () => {
    const tenant = newTenant();
    const endpoint = await api.endpoint({ event_types: ['*', 'invoice.*', 'invoice.paid'] }, { tenant });
    const [disabled, deleted] = await Promise.all([1, 2].map(() => api.endpoint({}, { tenant })));
    await api.send('PATCH', `/endpoints/${disabled!.id}/disable`, { tenant });
    await api.send('DELETE', `/endpoints/${deleted!.id}`, { tenant });
    await api.endpoint({}, { tenant: newTenant() });
    const elsewhere = await api.endpoint({}, { tenant });
    const { sql } = server.db;
    await sql`update webhooks.subscription set app_id = 'other' where endpoint_id = ${elsewhere.id}`;
    await sql`update webhooks.endpoint set app_id = 'other' where id = ${elsewhere.id}`;
    const event = await api.event({ type: 'invoice.paid' }, { tenant });
    expect(event.delivery_count).toBe(1);
    const [delivery] = (await api.send('GET', `/events/${event.id}/deliveries`, { tenant })) as [Delivery];
    expect(delivery.endpoint_id).toBe(endpoint.id);
  });

  it('reach endpoints with channels only through one of them', async () => {
    const tenant = newTenant();
    for (const channels of [[], ['a'], ['a', 'b'], ['c']]) await api.endpoint({ channels }, { tenant });
    const count = async (channels: string[]) =>
      (await api.event({ type: 'invoice.paid', channels }, { tenant })).delivery_count;
    expect(await count([])).toBe(1);
    expect(await count(['a'])).toBe(3);
    expect(await count(['b', 'a'])).toBe(3);
    expect(await count(['c', 'd'])).toBe(2);
    expect(await count(['d'])).toBe(1);
  });
});

describe('an idempotency key', () => {
  const body = { type: 'invoice.paid', idempotency_key: 'once' };

  it('used 1000 times at once makes one event', async () => {
    const tenant = newTenant();
    await api.endpoint({}, { tenant });
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => post(body, { tenant })));
    expect(new Set(answers.map((answer) => answer.body.id as string)).size).toBe(1);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(999);
    expect(await stored(tenant)).toEqual({ events: 1, deliveries: 1 });
  });

  it('returns the first event whatever else is sent, also after its type was deprecated', async () => {
    const tenant = newTenant();
    await api.type('key.type');
    const first = await api.event({ type: 'key.type', data: { a: 1 }, idempotency_key: 'k' }, { tenant });
    await api.send('DELETE', '/event-types/key.type');
    for (const type of ['key.type', 'invoice.paid', 'key.none']) {
      const { status, body: event } = await post({ type, data: { b: 2 }, idempotency_key: 'k' }, { tenant });
      expect([status, event]).toEqual([200, first]);
    }
  });

  it('is of one tenant and one app, and free again when it has expired', async () => {
    const [one, other] = [newTenant(), newTenant()];
    const first = await api.event(body, { tenant: one });
    expect((await post(body, { tenant: other })).status).toBe(201);
    await server.db
      .sql`update webhooks.idempotency set expires_at = now() - interval '1 second' where tenant_id = ${one}`;
    const second = await post(body, { tenant: one });
    expect([second.status, second.body.id === first.id]).toEqual([201, false]);
    expect((await post(body, { tenant: one })).body).toEqual(second.body);
  });

  it('of an event that was refused is free', async () => {
    const tenant = newTenant();
    const refused = { ...body, type: 'nowhere.known' };
    expect((await post(refused, { tenant })).status).toBe(404);
    expect((await post(body, { tenant })).status).toBe(201);
  });
});

describe('a batch', () => {
  it('takes good events and refuses bad ones, in order', async () => {
    await api.type('batch.deprecated');
    await api.send('DELETE', '/event-types/batch.deprecated');
    await api.type('batch.schema', { schema: { required: ['a'] } });
    const tenant = newTenant();
    const results = await batch(
      [
        { type: 'invoice.paid', idempotency_key: 'a', data: { n: 1 } },
        { type: 'batch.none' },
        { type: 'invoice.paid', idempotency_key: 'a', data: { n: 2 } },
        { type: 'batch.deprecated' },
        { type: 'batch.schema' },
        { type: 'invoice.paid', data: { a: 'x'.repeat(262_144) } },
        { type: 'batch.schema', data: { a: 1 } },
      ],
      { tenant },
    );
    expect(results.map(({ status, error }) => [status, error])).toEqual([
      [201, null],
      [404, 'event type not found: batch.none'],
      [200, null],
      [400, 'event type is deprecated: batch.deprecated'],
      [400, "data does not match the schema of batch.schema: data must have required property 'a'"],
      [413, 'data: larger than 262144 bytes'],
      [201, null],
    ]);
    expect(results[2]!.event).toEqual(results[0]!.event);
    expect(results[1]!.event).toBeNull();
    expect(await stored(tenant)).toMatchObject({ events: 2 });
  });

  it('of an event that the database refuses stores the others, in one request and in many', async () => {
    const { sql } = server.db;
    await api.type('poison');
    await sql`alter table webhooks.event add constraint test_poison check (type <> 'poison') not valid`;
    try {
      const tenant = newTenant();
      const good = { type: 'invoice.paid' };
      const results = await batch([good, { type: 'poison' }, good], { tenant });
      expect(results.map(({ status, error }) => [status, error])).toEqual([
        [201, null],
        [400, 'event: cannot be stored'],
        [201, null],
      ]);
      const bodies = Array.from({ length: 60 }, (_, at) => ({
        type: at % 10 === 0 ? 'poison' : 'invoice.paid',
      }));
      const answers = await Promise.all(bodies.map((body) => post(body, { tenant })));
      expect(answers.map(({ status }) => status)).toEqual(
        bodies.map(({ type }) => (type === 'poison' ? 500 : 201)),
      );
      expect(await stored(tenant)).toMatchObject({ events: 56 });
    } finally {
      await sql`alter table webhooks.event drop constraint test_poison`;
    }
  });

  it('takes 100 events and no more, and refuses a foreign tenant as a whole', async () => {
    const tenant = newTenant();
    const events = (count: number) => Array.from({ length: count }, () => ({ type: 'invoice.paid' }));
    expect(await batch(events(100), { tenant })).toHaveLength(100);
    for (const count of [0, 101])
      expect((await api.refusal('POST', '/events/batch', { body: { events: events(count) } }))[0]).toBe(400);
    const foreign = { events: [{ type: 'invoice.paid' }, { type: 'invoice.paid', tenant_id: 'acme' }] };
    expect(await api.refusal('POST', '/events/batch', { tenant, body: foreign })).toEqual([
      403,
      "events[1].tenant_id: not the caller's own",
    ]);
    expect(await stored(tenant)).toMatchObject({ events: 100 });
  });
});

describe('order keys', () => {
  const numbersOf = (endpointId: string) =>
    server.db.sql<{ order_key: string | null; order_number: number | null; event_id: string }[]>`
      select order_key, order_number, event_id from webhooks.delivery where endpoint_id = ${endpointId} order by order_number`;

  it('are numbered without gaps, in the order of acceptance, only where an ordered endpoint matches', async () => {
    const tenant = newTenant();
    const [ordered, plain] = await Promise.all(
      [true, false].map((one) => api.endpoint({ ordered: one }, { tenant })),
    );
    const results = await batch(
      ['a', 'b', 'a', null, 'a'].map((order_key) => ({ type: 'invoice.paid', order_key })),
      { tenant },
    );
    await api.event({ type: 'invoice.paid', order_key: 'a' }, { tenant });
    const rows = await numbersOf(ordered!.id);
    const ofA = rows.filter(({ order_key }) => order_key === 'a');
    expect(ofA.map(({ order_number }) => order_number)).toEqual([1, 2, 3, 4]);
    expect(ofA.slice(0, 3).map(({ event_id }) => event_id)).toEqual(
      [0, 2, 4].map((at) => results[at]!.event!.id),
    );
    expect(rows.filter(({ order_key }) => order_key === 'b')).toMatchObject([{ order_number: 1 }]);
    expect(rows.filter(({ order_key }) => order_key === null)).toMatchObject([{ order_number: null }]);
    for (const row of await numbersOf(plain!.id))
      expect(row).toMatchObject({ order_key: null, order_number: null });
    const [{ heads }] = await server.db.sql<[{ heads: number }]>`
      select count(*)::int as heads from webhooks.order_head where tenant_id = ${tenant}`;
    expect(heads).toBe(2);
  });

  it('of many at once give each event another number', async () => {
    const tenant = newTenant();
    const { id } = await api.endpoint({ ordered: true }, { tenant });
    await Promise.all(
      Array.from({ length: 100 }, () => post({ type: 'invoice.paid', order_key: 'k' }, { tenant })),
    );
    const rows = await numbersOf(id);
    expect(rows.map(({ order_number }) => order_number)).toEqual(
      Array.from({ length: 100 }, (_, at) => at + 1),
    );
  });

  it('that no event has had for longer than a delivery lives are forgotten', async () => {
    const tenant = newTenant();
    const { id } = await api.endpoint({ ordered: true }, { tenant });
    for (const order_key of ['old', 'new']) await api.event({ type: 'invoice.paid', order_key }, { tenant });
    const { sql } = server.db;
    await sql`
      update webhooks.order_head set used_at = now() - interval '193 hours' where tenant_id = ${tenant} and order_key = 'old'`;
    await runSweep(orderKeySweep({ db: server.db, settings: readSettings(settings, {}) }));
    for (const order_key of ['old', 'new']) await api.event({ type: 'invoice.paid', order_key }, { tenant });
    const rows = await numbersOf(id);
    expect(rows.map(({ order_key, order_number }) => [order_key, order_number]).sort()).toEqual([
      ...[['new', 1] as const, ['new', 2] as const],
      ...[['old', 1] as const, ['old', 1] as const],
    ]);
  });
});

describe('who sees what', () => {
  it("another tenant's event is like one that does not exist", async () => {
    const { id } = await api.event({ type: 'invoice.paid' }, { tenant: 'acme' });
    for (const path of ['', '/deliveries']) {
      const refusals = await Promise.all(
        [id, absent].map((one) => api.refusal('GET', `/events/${one}${path}`, { tenant: 'other' })),
      );
      expect(refusals).toEqual(Array(2).fill([404, 'event not found']));
    }
    expect(await api.send('GET', `/events/${id}`)).toMatchObject({ tenant_id: 'acme' });
    expect((await api.refusal('GET', '/events/del_01h455vb4qex5vsknk084sn02r'))[0]).toBe(400);
  });

  it('only the operator names another tenant', async () => {
    const body = { type: 'invoice.paid', tenant_id: 'acme' };
    expect(await api.event(body)).toMatchObject({ tenant_id: 'acme' });
    const refusal = await api.refusal('POST', '/events', { tenant: 'other', body });
    expect(refusal).toEqual([403, "tenant_id: not the caller's own"]);
    expect((await api.refusal('GET', '/events?tenant_id=acme', { tenant: 'other' }))[0]).toBe(403);
  });
});

describe('list', () => {
  it('is newest first, by type and by period', async () => {
    const tenant = newTenant();
    await api.type('listed.type');
    const sent: Event[] = [];
    for (const type of ['invoice.paid', 'listed.type', 'invoice.paid']) {
      sent.unshift(await api.event({ type }, { tenant }));
      await expect.poll(() => new Date().toISOString()).not.toBe(sent[0]!.created_at);
    }
    const list = async (query: string) =>
      ((await api.send('GET', `/events${query}`, { tenant })) as Event[]).map(({ id }) => id);
    const ids = sent.map(({ id }) => id);
    expect(await list('')).toEqual(ids);
    expect(await list('?type=invoice.paid')).toEqual([ids[0], ids[2]]);
    expect(await list(`?from=${sent[1]!.created_at}`)).toEqual(ids.slice(0, 2));
    expect(await list(`?to=${sent[1]!.created_at}`)).toEqual(ids.slice(2));
    expect(await list('?from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59Z')).toEqual(ids);
    const { headers } = await server.request('GET', '/webhooks/events?limit=2', { tenant });
    expect(await list(`?limit=2&cursor=${headers.get('x-next-cursor')!}`)).toEqual(ids.slice(2));
    expect((await api.send('GET', '/events')) as Event[]).toContainEqual(sent[0]);
    for (const query of ['?limit=101', '?offset=100001', '?from=yesterday'])
      expect((await api.refusal('GET', `/events${query}`))[0]).toBe(400);
  });
});

it('an accepted event belongs to the statistics', async () => {
  const tenant = newTenant();
  await api.endpoint({}, { tenant });
  await batch([{ type: 'invoice.paid' }, { type: 'invoice.paid' }], { tenant });
  expect(await api.send('GET', '/stats', { tenant })).toMatchObject({ events: 2, deliveries: 2 });
});
