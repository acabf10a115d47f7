import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../../generated/webhooks/types.ts';
import { runSweep } from '../../../db/sweeps.ts';
import { readSettings } from '../../../lib/settings.ts';
import { settings } from '../settings.ts';
import { orderKeySweep } from './sweeps.ts';
import { accepting } from './testing.ts';

const world = accepting();
const { newTenant, post, batch } = world;

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
    await Promise.all(names.map((name) => world.api.type(name)));
    await world.api.endpoint({ event_types: [pattern] }, { tenant });
    const results = await batch(
      names.map((type) => ({ type })),
      { tenant },
    );
    const matched = results.filter(({ event }) => event!.delivery_count === 1);
    expect(matched.map(({ event }) => event!.type)).toEqual(expected);
  });

  it('that overlap give one delivery; disabled and deleted endpoints, other tenants and other apps give none', async () => {
    const tenant = newTenant();
    const endpoint = await world.api.endpoint(
      { event_types: ['*', 'invoice.*', 'invoice.paid'] },
      { tenant },
    );
    const [disabled, deleted] = await Promise.all([1, 2].map(() => world.api.endpoint({}, { tenant })));
    await world.api.send('PATCH', `/endpoints/${disabled!.id}/disable`, { tenant });
    await world.api.send('DELETE', `/endpoints/${deleted!.id}`, { tenant });
    await world.api.endpoint({}, { tenant: newTenant() });
    const elsewhere = await world.api.endpoint({}, { tenant });
    const { sql } = world.server.db;
    await sql`update webhooks.subscription set app_id = 'other' where endpoint_id = ${elsewhere.id}`;
    await sql`update webhooks.endpoint set app_id = 'other' where id = ${elsewhere.id}`;
    const event = await world.api.event({ type: 'invoice.paid' }, { tenant });
    expect(event.delivery_count).toBe(1);
    const [delivery] = (await world.api.send('GET', `/events/${event.id}/deliveries`, { tenant })) as [
      Delivery,
    ];
    expect(delivery.endpoint_id).toBe(endpoint.id);
  });

  it('reach endpoints with channels only through one of them', async () => {
    const tenant = newTenant();
    for (const channels of [[], ['a'], ['a', 'b'], ['c']]) await world.api.endpoint({ channels }, { tenant });
    const count = async (channels: string[]) =>
      (await world.api.event({ type: 'invoice.paid', channels }, { tenant })).delivery_count;
    expect(await count([])).toBe(1);
    expect(await count(['a'])).toBe(3);
    expect(await count(['b', 'a'])).toBe(3);
    expect(await count(['c', 'd'])).toBe(2);
    expect(await count(['d'])).toBe(1);
  });
});

describe('order keys', () => {
  const numbersOf = (endpointId: string) =>
    world.server.db.sql<{ order_key: string | null; order_number: number | null; event_id: string }[]>`
      select order_key, order_number, event_id from webhooks.delivery where endpoint_id = ${endpointId} order by order_number`;

  it('are numbered without gaps, in the order of acceptance, only where an ordered endpoint matches', async () => {
    const tenant = newTenant();
    const [ordered, plain] = await Promise.all(
      [true, false].map((one) =>
        world.api.endpoint({ ordered: one, event_types: ['invoice.*'] }, { tenant }),
      ),
    );
    const results = await batch(
      ['a', 'b', 'a', null, 'a'].map((order_key) => ({ type: 'invoice.paid', order_key })),
      { tenant },
    );
    await world.api.event({ type: 'invoice.paid', order_key: 'a' }, { tenant });
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
    const [{ heads }] = await world.server.db.sql<[{ heads: number }]>`
      select count(*)::int as heads from webhooks.order_head where tenant_id = ${tenant}`;
    expect(heads).toBe(2);
  });

  it('of many at once give each event another number', async () => {
    const tenant = newTenant();
    const { id } = await world.api.endpoint({ ordered: true, event_types: ['invoice.*'] }, { tenant });
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
    const { id } = await world.api.endpoint({ ordered: true, event_types: ['invoice.*'] }, { tenant });
    for (const order_key of ['old', 'new'])
      await world.api.event({ type: 'invoice.paid', order_key }, { tenant });
    const { sql } = world.server.db;
    await sql`
      update webhooks.order_head set used_at = now() - interval '193 hours' where tenant_id = ${tenant} and order_key = 'old'`;
    await runSweep(orderKeySweep({ db: world.server.db, settings: readSettings(settings, {}) }));
    for (const order_key of ['old', 'new'])
      await world.api.event({ type: 'invoice.paid', order_key }, { tenant });
    const rows = await numbersOf(id);
    expect(rows.map(({ order_key, order_number }) => [order_key, order_number]).sort()).toEqual([
      ...[['new', 1] as const, ['new', 2] as const],
      ...[['old', 1] as const, ['old', 1] as const],
    ]);
  });
});
