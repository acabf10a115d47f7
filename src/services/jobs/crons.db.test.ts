import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CronEntry } from '../../../generated/jobs/types.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { newQueue, tools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['jobs'] });
  api = tools(server);
});
afterAll(() => server.close());

const create = (body: object = {}, tenant?: string): Promise<CronEntry> =>
  api.post(
    '/crons',
    { name: newQueue(), schedule: '30 2 * * *', ...body },
    tenant === undefined ? {} : { tenant },
  );
/** Makes an entry due at once, as time would. */
const pass = (id: string) =>
  server.db.sql`update jobs.cron set next_run_at = now() - interval '1 second' where id = ${id}`;

describe('an entry', () => {
  it('has defaults, a trimmed schedule and a next tick', async () => {
    const entry = await create({ name: 'nightly-report', schedule: '  30 2 * * * ' }, 'acme');
    expect(entry).toMatchObject({
      name: 'nightly-report',
      job_name: 'nightly-report',
      schedule: '30 2 * * *',
      enabled: true,
      last_fired_at: null,
      timezone: 'UTC',
      queue: 'default',
      payload: {},
      priority: 0,
      misfire: 'once',
      overlap: 'allow',
      scope_org_id: 'acme',
    });
    expect(entry.next_run_at).toMatch(/T02:30:00.000Z$/);
    expect(await api.send('GET', `/crons/${entry.id}`, { tenant: 'acme' })).toEqual(entry);
    expect(await api.send('GET', '/crons', { tenant: 'acme' })).toEqual([entry]);
    const taken = { body: { name: 'nightly-report', schedule: '* * * * *' }, tenant: 'acme' };
    expect(await api.refusal('POST', '/crons', taken)).toEqual([
      409,
      'cron entry already exists: nightly-report',
    ]);
  });

  it.each<[string, object]>([
    ['schedule', { schedule: '@hourly' }],
    ['schedule', { schedule: '* * * * * *' }],
    ['schedule: must have an occurrence', { schedule: '0 0 31 2 *' }],
    ['schedule', { schedule: '61 * * * *' }],
    ['timezone', { timezone: 'Mars/Olympus' }],
    ['queue: plinth.x is reserved', { queue: 'plinth.x' }],
    ['job_name', { job_name: 'a b' }],
    ['timeout', { timeout: '0s' }],
    ['overlap', { overlap: 'no' }],
  ])('is refused for a bad %s', async (field, body) => {
    const [status, error] = await api.refusal('POST', '/crons', {
      body: { name: 'n', schedule: '* * * * *', ...body },
    });
    expect([status, error.startsWith(field)], error).toEqual([400, true]);
  });

  it('changes what is named, and computes its next tick anew', async () => {
    const { id } = await create({ payload: { kind: 'daily' }, tags: ['a'] });
    const changed = await api.send('PUT', `/crons/${id}`, {
      body: { schedule: '0 5 * * *', priority: 3, tags: ['b', 'b'] },
    });
    expect(changed).toMatchObject({
      schedule: '0 5 * * *',
      priority: 3,
      payload: { kind: 'daily' },
      tags: ['b'],
    });
    expect(changed.next_run_at).toMatch(/T05:00:00.000Z$/);
    expect(await api.send('PUT', `/crons/${id}`, { body: { enabled: false } })).toMatchObject({
      enabled: false,
      next_run_at: null,
    });
    expect((await api.refusal('PUT', `/crons/${id}`, { body: { schedule: '@daily' } }))[0]).toBe(400);
  });

  it('does not fire while it is disabled, and makes nothing up', async () => {
    const queue = newQueue();
    const { id } = await create({ queue });
    expect(await api.post(`/crons/${id}/disable`)).toMatchObject({ enabled: false, next_run_at: null });
    const enabled = await api.post(`/crons/${id}/enable`);
    expect(enabled.enabled).toBe(true);
    expect(Date.parse(enabled.next_run_at)).toBeGreaterThan(Date.now());
    expect(await api.send('GET', `/jobs/counts?queue=${queue}`)).toMatchObject({ pending: 0 });
  });

  it('fires a job of its own', async () => {
    const queue = newQueue();
    const entry = await create(
      { queue, payload: { kind: 'daily' }, priority: 4, schedule: '* * * * *' },
      'acme',
    );
    await pass(entry.id);
    const { jobs } = await api.lease(queue, { wait: '20s' });
    expect(jobs).toMatchObject([
      {
        name: entry.name,
        payload: { kind: 'daily' },
        priority: 4,
        origin_id: entry.id,
        scope_org_id: 'acme',
      },
    ]);
    expect((await api.send('GET', `/crons/${entry.id}`)).last_fired_at).not.toBeNull();
  });

  it('is triggered without a change of its schedule, and not while its last job lives if it says so', async () => {
    const queue = newQueue();
    const entry = await create({ queue, overlap: 'skip' });
    const job = await api.post(`/crons/${entry.id}/trigger`);
    expect(job).toMatchObject({ state: 'pending', queue, origin_id: entry.id });
    expect(await api.refusal('POST', `/crons/${entry.id}/trigger`)).toEqual([
      409,
      'the last job of the cron entry is still live',
    ]);
    expect(await api.send('GET', `/crons/${entry.id}`)).toMatchObject({ next_run_at: entry.next_run_at });
  });

  it('is gone when it is deleted', async () => {
    const { id } = await create();
    await api.send('DELETE', `/crons/${id}`);
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/enable'],
      ['POST', '/disable'],
      ['POST', '/trigger'],
    ] as const)
      expect(await api.refusal(method, `/crons/${id}${path}`)).toEqual([404, 'cron entry not found']);
  });

  it('of another tenant is absent', async () => {
    const { id } = await create({}, 'acme');
    for (const [method, path] of [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['POST', '/trigger'],
    ] as const)
      expect(
        await api.refusal(method, `/crons/${id}${path}`, {
          tenant: 'bolt',
          ...(method === 'PUT' ? { body: { enabled: false } } : {}),
        }),
      ).toEqual([404, 'cron entry not found']);
  });
});

it('a tenant has a thousand entries and no more, also when many are made at once', async () => {
  await server.db.sql`
    insert into jobs.cron (tenant_id, id, app_id, name, schedule, timezone, enabled, job_name, queue, payload, tags, rank, max_attempts,
      timeout_ms, backoff_type, backoff_delay_ms, backoff_max_ms, misfire, overlap)
    select 'full', 'cron_' || n, 'default', 'n' || n, '* * * * *', 'UTC', false, 'n', 'q', '{}', '{}', 0, 1, 1000, 'fixed', 1, 1, 'once',
      'allow'
    from generate_series(1, 990) as n`;
  const made = await Promise.all(
    Array.from({ length: 40 }, (_, at) =>
      server.request('POST', '/jobs/v1/crons', {
        body: { name: `more-${at}`, schedule: '* * * * *' },
        tenant: 'full',
      }),
    ),
  );
  expect(made.filter(({ status }) => status === 201)).toHaveLength(10);
  expect(made.find(({ status }) => status !== 201)).toMatchObject({
    status: 409,
    body: { error: 'tenant has 1000 cron entries' },
  });
});
