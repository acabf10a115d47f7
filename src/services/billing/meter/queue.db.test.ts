import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { testServer, type TestResponse, type TestServer } from '../../../testing/server.ts';
import { until } from '../../../testing/until.ts';
import { tools } from '../testing.ts';
import { createIntake } from './intake.ts';
import { draftOf, type NewUsage } from './new-usage.ts';
import { subscribed, sumsOf } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['billing'], env: { PLINTH_BILLING_METER_BUFFER: '100' } });
  api = tools(server);
  await server.db.transaction(async (sql) => {
    // As a disk, a lock or a bug of the database could: it refuses certain events, and keeps others waiting.
    await sql.unsafe(`
      create function billing.obstacle() returns trigger language plpgsql as $$
      begin
        if new.feature_key = 'poison' then raise exception 'refused by the database'; end if;
        if new.feature_key = 'slow' then perform pg_advisory_xact_lock(1); end if;
        return new;
      end $$;
      create trigger obstacle before insert on billing.usage_event for each row execute function billing.obstacle()`);
  });
});
afterAll(() => server.close());

const post = (tenant: string, body: object) =>
  server.request('POST', '/billing/billing/meter/events', {
    tenant,
    body: { feature_key: 'calls', ...body },
  });
const batch = (tenant: string, count: number) =>
  server.request('POST', '/billing/billing/meter/events/batch', {
    tenant,
    body: { events: Array.from({ length: count }, () => ({ feature_key: 'calls' })) },
  });
const total = async (tenant: string) =>
  (await api.send('GET', '/billing/meter/events?limit=1', { tenant })).pagination.total as number;

/** While this runs, an event of the feature `slow` waits to be stored, and everything that comes after it. */
const slowly = (run: () => Promise<void>) =>
  server.db.transaction(async (sql) => {
    await sql`select pg_advisory_xact_lock(1)`;
    await run();
  });

describe('a full buffer', () => {
  // Of the embedded database, a transaction keeps all other statements waiting.
  const bySlots = it.runIf(inject('engine') === 'postgres');
  bySlots('refuses whole requests, leaves room for others, and later takes it', async () => {
    const taken: Promise<TestResponse>[] = [];
    const take = async (request: Promise<TestResponse>, together: number) => {
      taken.push(request);
      await until(async () => (await waiting()) === together);
    };
    await slowly(async () => {
      await take(post('acme', { feature_key: 'slow' }), 1);
      await take(batch('acme', 49), 50);
      const refused = await batch('acme', 2);
      expect([refused.status, refused.body.error.code, refused.headers.get('retry-after')]).toEqual([
        429,
        'meter_buffer_full',
        '1',
      ]);
      await take(batch('globex', 50), 100);
      expect((await post('initech', {})).status).toBe(429);
    });
    expect((await Promise.all(taken)).map(({ status }) => status)).toEqual([202, 202, 202]);
    expect((await batch('acme', 2)).status).toBe(202);
    expect(await Promise.all(['acme', 'globex', 'initech'].map(total))).toEqual([52, 50, 0]);
    expect(await waiting()).toBe(0);
  });

  it('never holds a batch that is larger than half of it', async () => {
    expect(await batch('larger', 51)).toMatchObject({
      status: 429,
      body: { error: { code: 'meter_buffer_full' } },
    });
  });
});

it('a request that the database refuses fails alone, and nothing of it is stored', async () => {
  await subscribed(server.db.sql, { tenant: 'poison', at: Date.now() - 86_400_000 });
  const poisoned = server.request('POST', '/billing/billing/meter/events/batch', {
    tenant: 'poison',
    body: { events: ['calls', 'poison', 'calls'].map((feature_key) => ({ feature_key })) },
  });
  const others = Array.from({ length: 12 }, (_, at) => post('poison', { idempotency_key: `k${at}` }));
  expect((await poisoned).status).toBe(500);
  expect((await Promise.all(others)).map(({ status }) => status)).toEqual(others.map(() => 202));
  const sum = { quantity: '12', count: 12 };
  expect(await sumsOf(server.db.sql, 'poison')).toEqual({ events: sum, totals: sum, days: sum });
});

describe('the intake', () => {
  const eventOf = (idempotency_key: string | null, tenant = 'intake'): NewUsage => {
    const sent = { feature_key: 'calls', quantity: 1, idempotency_key, metadata: {} };
    const terms = { now: Date.now(), lateWindowMs: 86_400_000, isOperator: false };
    const draft = draftOf(sent, { tenant, app: 'default', ...terms });
    if (draft.verdict === 'refused') throw new Error(draft.message);
    return draft.event;
  };
  const intake = () => createIntake({ db: server.db, mostWaiting: 100, mostTogether: 10 });

  it('takes the same event twice, as after a connection that was lost during the commit, and counts it once', async () => {
    await subscribed(server.db.sql, { tenant: 'intake', at: Date.now() - 86_400_000 });
    const meter = intake();
    for (const event of [eventOf('keyed'), eventOf(null)])
      for (let turn = 0; turn < 2; turn++)
        expect(await meter.add([event])).toEqual(new Map([[event.id, event.id]]));
    const sum = { quantity: '2', count: 2 };
    expect(await sumsOf(server.db.sql, 'intake')).toEqual({ events: sum, totals: sum, days: sum });
  });

  it('stores what shares a transaction with an event that the database refuses', async () => {
    const meter = intake();
    const events = ['calls', 'poison', 'calls'].map((feature) => ({ ...eventOf(null), featureKey: feature }));
    const outcomes = await Promise.allSettled(events.map((event) => meter.add([event])));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await total('intake')).toBe(4);
  });

  it('keeps nobody waiting for more than one transaction of a tenant', async () => {
    const meter = intake();
    const stored: string[] = [];
    const add = async (tenant: string, events: number) => {
      await meter.add(Array.from({ length: events }, () => eventOf(null, tenant)));
      stored.push(tenant);
    };
    await Promise.all([...Array.from({ length: 5 }, () => add('busy', 10)), add('quiet', 1)]);
    expect(stored).toEqual(['busy', 'quiet', 'busy', 'busy', 'busy', 'busy']);
    await meter.close();
  });

  it('stores what it took before it closes, and takes nothing more', async () => {
    const meter = intake();
    const taken = Array.from({ length: 30 }, () => meter.add([eventOf(null)]));
    const closed = meter.close();
    await expect(meter.add([eventOf(null)])).rejects.toThrow('shutting down');
    await closed;
    expect(await Promise.all(taken)).toHaveLength(30);
    expect(await total('intake')).toBe(34);
  });
});

/** How many events wait, as the metrics say. */
async function waiting(): Promise<number> {
  const { text } = await server.request('GET', '/metrics');
  return Number(/queue_waiting\{[^}]*billing\.usage[^}]*\} (\d+)/.exec(text)?.[1] ?? NaN);
}
