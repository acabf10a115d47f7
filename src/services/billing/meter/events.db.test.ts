import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestServer } from '../../../testing/server.ts';
import { until } from '../../../testing/until.ts';
import { placingStore } from '../usage/placing.store.ts';
import { serverBy, TestClock, tools } from '../testing.ts';
import { subscribed, sumsOf } from './testing.ts';

const day = 86_400_000;
const clock = new TestClock('2026-03-01T12:00:00.000Z');
const startsAt = clock.now() - 40 * day;

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await serverBy(clock);
  api = tools(server);
});
afterAll(() => server.close());

const record = async (tenant: string, body: object = {}) =>
  (await api.send('POST', '/billing/meter/events', { tenant, body: { feature_key: 'calls', ...body } }))
    .id as string;
const ids = async (query: string, tenant?: string) => {
  const { data } = await api.send(
    'GET',
    `/billing/meter/events${query}`,
    tenant === undefined ? {} : { tenant },
  );
  return data.map(({ id }: { id: string }) => id) as string[];
};
const nothing = 'uevt_01kfd8cst0fj5vkzcgddzs58zr';

describe('the list', () => {
  let made: string[];
  beforeAll(async () => {
    await subscribed(server.db.sql, { tenant: 'lists', at: startsAt });
    made = [];
    for (const [at, feature_key] of ['calls', 'seats', 'calls', 'calls'].entries()) {
      clock.turn(1_000);
      const timestamp = new Date(clock.now() - at * day).toISOString();
      made.unshift(await record('lists', { feature_key, timestamp }));
    }
  });

  it('is newest first, in pages', async () => {
    expect(await ids('', 'lists')).toEqual(made);
    expect(
      await api.send('GET', '/billing/meter/events?limit=2&offset=1', { tenant: 'lists' }),
    ).toMatchObject({
      data: [{ id: made[1] }, { id: made[2] }],
      pagination: { total: 4, limit: 2, offset: 1, has_more: true },
    });
  });

  it('has filters for the feature, the status and when the events happened', async () => {
    const [third, second, first, zeroth] = made as [string, string, string, string];
    const at = async (id: string) =>
      (await api.send('GET', `/billing/meter/events/${id}`)).timestamp as string;
    expect(await ids('?feature_key=seats', 'lists')).toEqual([first]);
    expect(await ids('?status=counted', 'lists')).toEqual(made);
    expect(await ids('?status=voided', 'lists')).toEqual([]);
    expect(await ids(`?start=${await at(second)}`, 'lists')).toEqual([second, first, zeroth]);
    expect(await ids(`?end=${await at(second)}`, 'lists')).toEqual([third]);
    expect(await ids('?start=2026-02-28&end=2026-03-01', 'lists')).toEqual([first]);
    expect(await ids('?start=0001-01-01&end=9999-12-31', 'lists')).toEqual(made);
    expect(await ids('?start=2026-02-28T13:00:00%2B01:00&end=2026-03-01&feature_key=calls', 'lists')).toEqual(
      [],
    );
  });

  it.each(['start', 'end'])('refuses a %s that does not exist', async (name) => {
    for (const time of ['2026-02-30', '2026-02-28T25:00:00Z', 'now']) {
      const [status, code, message] = await api.refusal('GET', `/billing/meter/events?${name}=${time}`);
      expect([status, code, message.startsWith(`${name}: `)]).toEqual([400, 'invalid_input', true]);
    }
  });

  it('of the operator has all tenants, or one', async () => {
    const other = await record('elsewhere');
    expect(await ids('')).toEqual([other, ...made]);
    expect(await ids('?tenant_id=lists')).toEqual(made);
    expect(await ids('', 'lists')).toEqual(made);
    expect(
      (await api.refusal('GET', '/billing/meter/events?tenant_id=lists', { tenant: 'elsewhere' }))[0],
    ).toBe(403);
  });
});

describe('voiding', () => {
  const operator = (id: string, body: object = {}) =>
    api.send('POST', `/billing/meter/events/${id}/void`, { body });

  it('takes the event out of the counters, once', async () => {
    await subscribed(server.db.sql, { tenant: 'voids', at: startsAt });
    const [id] = [await record('voids', { quantity: 2.5 }), await record('voids', { quantity: 4 })];
    const before = await api.send('GET', `/billing/meter/events/${id}`);
    expect(await operator(id, { reason: 'test traffic' })).toEqual({
      ...{ ...before, status: 'voided', void_reason: 'test traffic' },
    });
    expect(await api.send('GET', `/billing/meter/events/${id}`)).toMatchObject({
      void_reason: 'test traffic',
    });
    const sum = { quantity: '4.0', count: 1 };
    const events = { quantity: '4', count: 1 };
    expect(await sumsOf(server.db.sql, 'voids')).toEqual({ events, totals: sum, days: sum });
    expect(await operator(id, { reason: 'test traffic' })).toMatchObject({ status: 'voided' });
    expect(await api.refusal('POST', `/billing/meter/events/${id}/void`)).toEqual([
      400,
      'invalid_state',
      'usage event is voided',
    ]);
    const rows = await server.db.sql`
      select type, subject, tenant_id from billing.outbox where type = 'billing.event.voided'`;
    expect(rows).toEqual([{ type: 'billing.event.voided', subject: id, tenant_id: 'voids' }]);
  });

  it('of one event by many at once takes effect once', async () => {
    await subscribed(server.db.sql, { tenant: 'race', at: startsAt });
    const [id] = [await record('race'), await record('race')];
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => server.request('POST', `/billing/billing/meter/events/${id}/void`)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    const sum = { quantity: '1', count: 1 };
    expect(await sumsOf(server.db.sql, 'race')).toEqual({ events: sum, totals: sum, days: sum });
  });

  it('of an event that waits for a subscription keeps it from ever counting', async () => {
    const [voided, kept] = [await record('waits'), await record('waits')];
    expect(await operator(voided)).toMatchObject({ status: 'voided', subscription_id: null });
    await subscribed(server.db.sql, { tenant: 'waits', at: startsAt });
    expect(await placingStore(server.db.sql).place({ tenant_id: 'waits', app_id: 'default' }, 10)).toBe(1);
    expect(await api.send('GET', `/billing/meter/events/${kept}`)).toMatchObject({ status: 'counted' });
    const sum = { quantity: '1', count: 1 };
    expect(await sumsOf(server.db.sql, 'waits')).toEqual({ events: sum, totals: sum, days: sum });
  });

  it('is for the operator, and a key stays taken', async () => {
    const id = await record('keyed', { idempotency_key: 'k' });
    expect((await api.refusal('POST', `/billing/meter/events/${id}/void`, { tenant: 'keyed' }))[0]).toBe(403);
    await operator(id);
    const again = { tenant: 'keyed', body: { feature_key: 'calls', idempotency_key: 'k' } };
    expect((await api.refusal('POST', '/billing/meter/events', again)).slice(0, 2)).toEqual([
      409,
      'duplicate_event',
    ]);
  });

  it('has a reason of at most 500 characters', async () => {
    const id = await record('reasons');
    const [status, , message] = await api.refusal('POST', `/billing/meter/events/${id}/void`, {
      body: { reason: 'x'.repeat(501) },
    });
    expect([status, message.startsWith('reason: ')]).toEqual([400, true]);
  });
});

it('any number of events that waited is counted once, a few by each statement', async () => {
  for (let at = 0; at < 7; at++)
    await record('many', {
      quantity: 1.5,
      timestamp: new Date(startsAt + (10 + 3 * at) * day).toISOString(),
    });
  await subscribed(server.db.sql, { tenant: 'many', at: startsAt });
  await placingStore(server.db.sql).placeAll({ tenant_id: 'many', app_id: 'default' }, 2);
  const sum = { quantity: '10.5', count: 7 };
  expect(await sumsOf(server.db.sql, 'many')).toEqual({ events: sum, totals: sum, days: sum });
});

it("another tenant's event is answered as one that never existed", async () => {
  const id = await record('acme');
  const answers = await Promise.all(
    [id, nothing].map((one) =>
      server.request('GET', `/billing/billing/meter/events/${one}`, { tenant: 'globex' }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual([404, 404]);
  expect(answers[0]!.text).toBe(answers[1]!.text);
  expect(await api.refusal('POST', `/billing/meter/events/${nothing}/void`)).toEqual([
    404,
    'not_found',
    'usage event not found',
  ]);
  expect((await api.refusal('GET', "/billing/meter/events/uevt_' or 1=1"))[0]).toBe(400);
});

it('a segment that is replaced while an event enters it makes the event enter the next one', async () => {
  const { id, course } = await subscribed(server.db.sql, { tenant: 'moves', at: startsAt });
  const [first, second] = course.segments;
  let entering: Promise<string> | undefined;
  await server.db.transaction(async (sql) => {
    const replaced = new Date(second!.start);
    const moved = new Date(second!.start - 1_000);
    await sql`
      delete from billing.segment where tenant_id = 'moves' and subscription_id = ${id} and starts_at = ${replaced}`;
    await sql`
      update billing.segment set starts_at = ${moved}, period_start = ${moved}, window_start = ${moved}, ends_at = ${new Date(second!.end)}
      where tenant_id = 'moves' and starts_at = ${new Date(first!.start)}`;
    if (server.db.engine === 'pglite') return;
    entering = record('moves');
    // The event waits for this transaction: its counter refers to the segment that is gone.
    await until(async () => {
      const [{ count }] = await server.db.background<[{ count: number }]>`
        select count(*)::integer as count from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%usage_event%'`;
      return count > 0;
    });
  });
  const event = await api.send('GET', `/billing/meter/events/${await (entering ?? record('moves'))}`);
  expect(event).toMatchObject({
    status: 'counted',
    period_start: new Date(second!.start - 1_000).toISOString(),
  });
  const { events, totals } = await sumsOf(server.db.sql, 'moves');
  expect(totals).toEqual(events);
});

it('a list that ends at a time has the events before it, however long after it they came', async () => {
  const end = clock.now();
  const came = async (happened: number, accepted: number) => {
    clock.turn(accepted - clock.now());
    return await record('late', { timestamp: new Date(happened).toISOString() });
  };
  const hour = 3_600_000;
  const usual = [await came(end - 2 * hour, end - hour), await came(end - hour, end - hour + 1_000)];
  const soon = await came(end - 1, end + hour - 2_000);
  const late = [await came(end - hour, end + 2 * hour), await came(end - 30 * day, end + day)];
  await came(end, end + day + 1_000);
  const all = [...usual, soon, ...late].reverse();
  const list = `?end=${new Date(end).toISOString()}`;
  expect(await ids(list, 'late')).toEqual(all);
  expect(await ids(`${list}&limit=2&offset=1`, 'late')).toEqual(all.slice(1, 3));
  expect(await ids(`${list}&start=${new Date(end - hour).toISOString()}`, 'late')).toEqual([
    ...[late[0], soon, usual[1]],
  ]);
  const { pagination } = await api.send('GET', `/billing/meter/events${list}&limit=1`, { tenant: 'late' });
  expect(pagination).toMatchObject({ total: 5, has_more: true });
});
