import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { until } from '../../../testing/until.ts';
import { anEvent, inTenant, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({
    services: ['audit', 'keys'],
    env: { PLINTH_AUDIT_QUEUE: '100' },
    strict: false,
  });
  api = tools(server);
  await server.db.transaction(async (sql) => {
    // As a disk, a lock or a bug of the database could: it refuses certain events, and keeps others waiting.
    await sql.unsafe(`
      create function audit.obstacle() returns trigger language plpgsql as $$
      begin
        if new.action = 'poison' then raise exception 'refused by the database'; end if;
        if new.action = 'slow' then perform pg_sleep(0.7); end if;
        return new;
      end $$;
      create trigger obstacle before insert on audit.events for each row execute function audit.obstacle()`);
  });
});
afterAll(() => server.close());

const post = (own: object, body: object) =>
  server.request('POST', '/audit/v1/events', { ...own, body: { ...anEvent, ...body } });

describe('a full queue', () => {
  // The embedded database says nothing while it is busy, so that nobody sees how many wait.
  it.runIf(inject('engine') === 'postgres')('refuses what does not fit, and later takes it', async () => {
    const own = inTenant('full');
    await api.event({}, own);
    const slow = post(own, { action: 'slow' });
    const batch = { events: Array.from({ length: 99 }, () => anEvent) };
    await until(async () => (await metric()) === 1);
    const waiting = server.request('POST', '/audit/v1/events/batch', { ...own, body: batch });
    await until(async () => (await metric()) === 100);
    const refused = await post(own, {});
    expect([refused.status, refused.body, refused.headers.get('retry-after')]).toEqual([
      429,
      { error: 'audit: ingest queue is full' },
      '1',
    ]);
    expect([(await slow).status, (await waiting).status]).toEqual([201, 201]);
    expect((await post(own, {})).status).toBe(201);
    expect(await api.verify({}, own)).toMatchObject({ valid: true, last_event: 102 });
  });

  it('never holds a batch that is larger than it', async () => {
    const body = { events: Array.from({ length: 101 }, () => anEvent) };
    expect(await api.refusal('POST', '/events/batch', { ...inTenant('larger'), body })).toEqual([
      429,
      'audit: ingest queue is full',
    ]);
  });
});

it('a request that the database refuses fails alone', async () => {
  const own = inTenant('poison');
  await api.event({}, own);
  const slow = post(own, { action: 'slow' });
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, at) =>
      post(own, {
        action: at === 5 ? 'poison' : 'fine',
        user_id: `usr_${at % 3}`,
        idempotency_key: `k${at}`,
      }),
    ),
  );
  expect((await slow).status).toBe(201);
  expect(answers.map(({ status }) => status)).toEqual(answers.map((_, at) => (at === 5 ? 500 : 201)));
  expect(await api.verify({}, own)).toMatchObject({ valid: true, last_event: 13 });
  expect((await post(own, { action: 'fine', idempotency_key: 'k5' })).status).toBe(201);
});

/** How many events wait, as the metrics say. */
async function metric(): Promise<number> {
  const { text } = await server.request('GET', '/metrics');
  return Number(/queue_waiting\{[^}]*audit\.events[^}]*\} (\d+)/.exec(text)?.[1] ?? NaN);
}
