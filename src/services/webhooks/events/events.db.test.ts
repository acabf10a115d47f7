import { describe, expect, it } from 'vitest';
import type { Delivery, Event } from '../../../../generated/webhooks/types.ts';
import { accepting } from './testing.ts';

const world = accepting();
const { newTenant, post } = world;
const absent = 'evt_01m7w4n5e0ex5vsknk084sn02q';

describe('create', () => {
  it('stores the event with a delivery for each matching endpoint', async () => {
    const tenant = newTenant();
    const [one, two] = await Promise.all(
      [1, 2].map(() => world.api.endpoint({ event_types: ['invoice.*'] }, { tenant })),
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
    expect(await world.api.send('GET', `/events/${event.id}`, { tenant })).toEqual(event);
    const deliveries = (await world.api.send('GET', `/events/${event.id}/deliveries`, {
      tenant,
    })) as Delivery[];
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
    const event = await world.api.event({ type: 'invoice.paid' }, { tenant: newTenant() });
    expect(event).toMatchObject({
      data: {},
      idempotency_key: null,
      order_key: null,
      channels: [],
      delivery_count: 0,
    });
  });

  it('keeps the data as they were written', async () => {
    const data = ['{ "z":1.0,"10":1e2, "a" : {"b":"\\u00e4"} }', '{"x":-0}'];
    const one = await post(`{"type":"invoice.paid","data": ${data[0]} }`);
    const events = data.map((text) => `{"data":${text},"type":"invoice.paid"}`).join(',');
    const { results } = await world.api.send('POST', '/events/batch', { body: ` {"events":[${events}]}` });
    const ids = [one.body.id as string, ...(results as { event: Event }[]).map(({ event }) => event.id)];
    const rows = await world.server.db.sql<{ text: string }[]>`
      select data::text as text from webhooks.event where id = any(${ids}) order by array_position(${ids}, id)`;
    expect(rows.map(({ text }) => text)).toEqual([data[0], ...data]);
    const absentData = await post('{"type":"invoice.paid","data":null}');
    expect([absentData.status, absentData.body.data]).toEqual([201, {}]);
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
    const [status, error] = await world.api.refusal('POST', '/events', { body });
    expect([status, error]).toEqual([400, expect.stringContaining(field)]);
  });

  it('takes 256 KiB of data and no more, 60 levels and no more', async () => {
    const sized = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });
    expect((await post({ type: 'invoice.paid', data: sized(262_144) })).status).toBe(201);
    expect(
      await world.api.refusal('POST', '/events', { body: { type: 'invoice.paid', data: sized(262_145) } }),
    ).toEqual([413, 'data: larger than 262144 bytes']);
    const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) });
    expect((await post({ type: 'invoice.paid', data: nested(60) })).status).toBe(201);
    for (const levels of [61, 65])
      expect(
        (
          await world.api.refusal('POST', '/events', { body: { type: 'invoice.paid', data: nested(levels) } })
        )[0],
      ).toBe(400);
  });
});

describe('who sees what', () => {
  it("another tenant's event is like one that does not exist", async () => {
    const { id } = await world.api.event({ type: 'invoice.paid' }, { tenant: 'acme' });
    for (const path of ['', '/deliveries']) {
      const refusals = await Promise.all(
        [id, absent].map((one) => world.api.refusal('GET', `/events/${one}${path}`, { tenant: 'other' })),
      );
      expect(refusals).toEqual(Array(2).fill([404, 'event not found']));
    }
    expect(await world.api.send('GET', `/events/${id}`)).toMatchObject({ tenant_id: 'acme' });
    expect((await world.api.refusal('GET', '/events/del_01h455vb4qex5vsknk084sn02r'))[0]).toBe(400);
  });

  it('only the operator names another tenant', async () => {
    const body = { type: 'invoice.paid', tenant_id: 'acme' };
    expect(await world.api.event(body)).toMatchObject({ tenant_id: 'acme' });
    const refusal = await world.api.refusal('POST', '/events', { tenant: 'other', body });
    expect(refusal).toEqual([403, "tenant_id: not the caller's own"]);
    expect((await world.api.refusal('GET', '/events?tenant_id=acme', { tenant: 'other' }))[0]).toBe(403);
  });
});

describe('list', () => {
  it('is newest first, by type and by period', async () => {
    const tenant = newTenant();
    await world.api.type('listed.type');
    const sent: Event[] = [];
    for (const type of ['invoice.paid', 'listed.type', 'invoice.paid']) {
      sent.unshift(await world.api.event({ type }, { tenant }));
      await expect.poll(() => new Date().toISOString()).not.toBe(sent[0]!.created_at);
    }
    const list = async (query: string) =>
      ((await world.api.send('GET', `/events${query}`, { tenant })) as Event[]).map(({ id }) => id);
    const ids = sent.map(({ id }) => id);
    expect(await list('')).toEqual(ids);
    expect(await list('?type=invoice.paid')).toEqual([ids[0], ids[2]]);
    expect(await list(`?from=${sent[1]!.created_at}`)).toEqual(ids.slice(0, 2));
    expect(await list(`?to=${sent[1]!.created_at}`)).toEqual(ids.slice(2));
    expect(await list('?from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59Z')).toEqual(ids);
    const { headers } = await world.server.request('GET', '/webhooks/events?limit=2', { tenant });
    expect(await list(`?limit=2&cursor=${headers.get('x-next-cursor')!}`)).toEqual(ids.slice(2));
    expect((await world.api.send('GET', '/events')) as Event[]).toContainEqual(sent[0]);
    for (const query of ['?limit=101', '?offset=100001', '?from=yesterday'])
      expect((await world.api.refusal('GET', `/events${query}`))[0]).toBe(400);
  });
});
