import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Job, Lease } from '../../../generated/jobs/types.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';
import { newQueue, tools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['jobs'] });
  api = tools(server);
});
afterAll(() => server.close());

const none = { id: null, worker: null, expires_at: null, jobs: [] };
const inQueue = (queue: string, count: number) =>
  api.post('/jobs/batch', { jobs: Array.from({ length: count }, () => ({ name: 'n', queue })) });

describe('a lease', () => {
  it('takes due jobs by priority, of the queues in their order', async () => {
    const [one, other] = [newQueue(), newQueue()];
    const low = await api.create({ queue: one, priority: -1 });
    const high = await api.create({ queue: one, priority: 5 });
    const second = await api.create({ queue: other });
    await api.create({ queue: one, delay: '1h' });
    const lease = await api.post('/leases', { queues: [one, other, one], worker: 'mailer-1', max_jobs: 10 });
    expect(lease.jobs.map(({ id }: Job) => id)).toEqual([high.id, low.id, second.id]);
    expect(lease.jobs[0]).toMatchObject({
      state: 'running',
      attempt: 1,
      worker: 'mailer-1',
      lease_expires_at: lease.expires_at,
    });
    expect(await api.job(high.id)).toEqual(lease.jobs[0]);
    expect(await api.post('/leases', { queues: [one, other] })).toEqual(none);
  });

  it('takes turns among the tenants, and a tenant gets its own only', async () => {
    const queue = newQueue();
    for (const tenant of ['acme', 'bolt'])
      for (let at = 0; at < 3; at++) await api.create({ queue }, { tenant });
    const lease = await api.lease(queue, { max_jobs: 2 });
    expect(new Set(lease.jobs.map(({ scope_org_id }) => scope_org_id))).toEqual(new Set(['acme', 'bolt']));
    const own = await api.lease(queue, { max_jobs: 10 }, { tenant: 'acme' });
    expect(own.jobs.map(({ scope_org_id }) => scope_org_id)).toEqual(['acme', 'acme']);
    expect(await api.lease(queue, {}, { tenant: 'other' })).toEqual(none);
    for (const [method, path, body] of [
      ['POST', 'heartbeat', {}],
      ['POST', 'settle', { completed: [{ id: own.jobs[0]!.id }] }],
      ['DELETE', '', undefined],
    ] as const)
      expect(
        await api.refusal(method, `/leases/${own.id}${path === '' ? '' : `/${path}`}`, {
          tenant: 'bolt',
          ...(body === undefined ? {} : { body }),
        }),
      ).toEqual([404, 'lease not found']);
  });

  it('never goes beyond the limits of the queue', async () => {
    const queue = newQueue();
    await api.send('PUT', `/queues/${queue}`, { body: { max_concurrency: 3 } });
    await inQueue(queue, 10);
    const leases = await Promise.all(Array.from({ length: 4 }, () => api.lease(queue)));
    expect(leases.flatMap(({ jobs }) => jobs).length).toBeLessThanOrEqual(3);
    await api.send('PUT', `/queues/${queue}`, { body: { max_concurrency: 0, paused: true } });
    expect(await api.lease(queue)).toEqual(none);
    await api.send('PUT', `/queues/${queue}`, { body: { paused: false } });
    expect((await api.lease(queue)).jobs.length).toBeGreaterThanOrEqual(7);
  });

  it.each<[string, object]>([
    ['queues', { queues: [] }],
    ['queues', { queues: Array.from({ length: 21 }, (_, at) => `q${at}`) }],
    ['max_jobs', { max_jobs: 0 }],
    ['max_jobs', { max_jobs: 1_001 }],
    ['duration', { duration: '4s' }],
    ['duration', { duration: '16m' }],
    ['wait', { wait: '21s' }],
    ['worker', { worker: 'a\0' }],
  ])('is refused for bad %s', async (field, body) => {
    const [status, error] = await api.refusal('POST', '/leases', { body: { queues: ['q'], ...body } });
    expect([status, error.startsWith(field)], error).toEqual([400, true]);
  });

  it('is refused for queues of the platform', async () => {
    expect(await api.refusal('POST', '/leases', { body: { queues: ['a', 'plinth.billing'] } })).toEqual([
      403,
      'queues[1]: plinth.billing belongs to the platform',
    ]);
  });
});

describe('a worker that waits', () => {
  it('gets a job as soon as there is one, and only as many as there are workers for', async () => {
    const queue = newQueue();
    const waiting = [1, 2, 3].map(() => api.lease(queue, { wait: '20s', max_jobs: 1 }));
    await inQueue(queue, 2);
    const two = await Promise.race([
      Promise.all(waiting.slice(0, 2)),
      Promise.all(waiting.slice(1)),
      Promise.all([waiting[0]!, waiting[2]!]),
    ]);
    expect(two.map(({ jobs }) => jobs.length)).toEqual([1, 1]);
    await inQueue(queue, 1);
    expect((await Promise.all(waiting)).flatMap(({ jobs }) => jobs)).toHaveLength(3);
  });

  it('hears of a job that another tenant does not get, and of a delayed one when it is due', async () => {
    const queue = newQueue();
    const bolt = api.lease(queue, { wait: '20s' }, { tenant: 'bolt' });
    const acme = api.lease(queue, { wait: '20s' }, { tenant: 'acme' });
    await api.create({ queue }, { tenant: 'acme' });
    expect((await acme).jobs).toHaveLength(1);
    const delayed = await api.create({ queue, delay: '300ms' }, { tenant: 'bolt' });
    const [job] = (await bolt).jobs;
    expect(job!.id).toBe(delayed.id);
    expect(job!.started_at! >= delayed.run_at).toBe(true);
  });

  it('costs little when what is due may not start', async () => {
    const queue = newQueue();
    await api.send('PUT', `/queues/${queue}`, { body: { paused: true } });
    await inQueue(queue, 1);
    const { sql } = server.db;
    await sql`create table public.looked (lease text)`;
    await sql`
      create function public.note_look() returns trigger language plpgsql as $$
        begin insert into public.looked values (new.id); return new; end
      $$`;
    await sql`create trigger looks after insert on jobs.lease for each row execute function public.note_look()`;
    const waiting = Array.from({ length: 10 }, () => api.lease(queue, { wait: '2s' }));
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => none));
    // Each worker looks when it comes, and then one of them every half second.
    expect((await sql`select from public.looked`).length).toBeLessThan(50);
    await sql`drop trigger looks on jobs.lease`;
  });

  it('does not keep other requests of its caller from their turns', async () => {
    const queue = newQueue();
    const refused: number[] = [];
    const waiting = Array.from({ length: 101 }, async () => {
      const body = { queues: [queue], wait: '20s', max_jobs: 1 };
      const answer = await server.request('POST', '/jobs/v1/leases', { body });
      if (answer.status !== 200) refused.push(answer.status);
      return (answer.body as Partial<Lease>).jobs?.length ?? 0;
    });
    // One hundred is the most that a caller may have open.
    await expect.poll(() => refused).toEqual([503]);
    await api.post('/jobs/batch', { jobs: Array.from({ length: 100 }, () => ({ name: 'n', queue })) });
    const taken = await Promise.all(waiting);
    expect(taken.toSorted().slice(0, 2)).toEqual([0, 1]);
    expect(taken.reduce((sum, jobs) => sum + jobs)).toBe(100);
  });

  it('is answered without jobs when the time is over', async () => {
    expect(await api.lease(newQueue(), { wait: '50ms' })).toEqual(none);
  });

  it('is answered when the server stops', async () => {
    const own = await testServer({ services: ['jobs'] });
    const waiting = tools(own).lease('q', { wait: '20s' });
    await until(async () => (await own.db.sql`select 1 as one`).length === 1);
    await delay(50);
    const began = performance.now();
    await own.close();
    expect(await waiting).toEqual(none);
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});

describe('reports', () => {
  it('complete a job once', async () => {
    const queue = newQueue();
    await api.create({ queue });
    const { lease, job } = await api.take(queue);
    const output = { list: [1, null], text: 'é' };
    const done = await api.post(`/jobs/${job.id}/complete`, { lease_id: lease, output });
    expect(done).toMatchObject({ state: 'completed', output, worker: null, lease_expires_at: null });
    expect(done.completed_at).not.toBeNull();
    expect(await api.refusal('POST', `/jobs/${job.id}/complete`, { body: { lease_id: lease } })).toEqual([
      409,
      'job is not held by this lease',
    ]);
  });

  it('fail an attempt, with a delay of their own or for good', async () => {
    const queue = newQueue();
    await api.create({ queue, max_attempts: 3 });
    const first = await api.take(queue);
    const failed = await api.post(`/jobs/${first.job.id}/fail`, {
      lease_id: first.lease,
      error: 'smtp: 451',
      retry_in: '0s',
    });
    expect(failed).toMatchObject({ state: 'retrying', attempt: 1, last_error: 'smtp: 451' });
    const second = await api.take(queue);
    const over = { lease_id: second.lease, error: 'smtp: 550', retryable: false };
    expect(await api.post(`/jobs/${second.job.id}/fail`, over)).toMatchObject({
      state: 'failed',
      attempt: 2,
    });
    expect(await api.send('GET', `/dlq?queue=${queue}`)).toMatchObject([
      { job_id: second.job.id, error: 'smtp: 550', attempt: 2, max_attempts: 3 },
    ]);
  });

  it('snooze without counting the attempt', async () => {
    const queue = newQueue();
    await api.create({ queue });
    const { lease, job } = await api.take(queue);
    const both = { lease_id: lease, delay: '1s', until: '2030-01-01T00:00:00Z' };
    for (const body of [both, { lease_id: lease }, { lease_id: lease, delay: '1s', signal: 's' }])
      expect((await api.refusal('POST', `/jobs/${job.id}/snooze`, { body }))[0]).toBe(400);
    const snoozed = await api.post(`/jobs/${job.id}/snooze`, {
      lease_id: lease,
      until: '2030-01-01T00:00:00Z',
    });
    expect(snoozed).toMatchObject({ state: 'pending', attempt: 0 });
    expect(snoozed.run_at).toMatch(/^20(29-12-31T23:59:59|30-01-01T00:00:00)/);
  });

  it('settle many together, and name those that the lease does not hold', async () => {
    const queue = newQueue();
    await inQueue(queue, 5);
    const lease = await api.lease(queue, { max_jobs: 3 });
    const other = await api.lease(queue, { max_jobs: 1 });
    const [a, b, c] = lease.jobs.map(({ id }) => id);
    const foreign = other.jobs[0]!.id;
    const body = {
      completed: [{ id: a, output: 1 }, { id: foreign }],
      failed: [
        { id: b, error: 'later', retry_in: '1h' },
        { id: c, error: 'never', retryable: false },
      ],
    };
    expect(await api.post(`/leases/${lease.id}/settle`, body)).toEqual({ settled: 3, lost: [foreign] });
    expect([await api.job(a!), await api.job(b!), await api.job(c!)]).toMatchObject([
      { state: 'completed', output: 1 },
      { state: 'retrying', last_error: 'later' },
      { state: 'failed', last_error: 'never' },
    ]);
    expect(await api.post(`/leases/${lease.id}/settle`, body)).toMatchObject({ settled: 0 });
    for (const bad of [
      {},
      { completed: [{ id: a }, { id: a }] },
      { completed: [{ id: a }], failed: [{ id: a, error: 'x' }] },
    ])
      expect((await api.refusal('POST', `/leases/${lease.id}/settle`, { body: bad }))[0]).toBe(400);
    const long = { completed: [{ id: foreign, output: 'x'.repeat(65_536) }] };
    expect(await api.refusal('POST', `/leases/${lease.id}/settle`, { body: long })).toEqual([
      413,
      'completed[0].output: must have at most 65536 bytes',
    ]);
  });

  it('release a lease: its jobs wait again at once, uncounted', async () => {
    const queue = newQueue();
    await inQueue(queue, 2);
    const { id, jobs } = await api.lease(queue);
    const waiting = api.lease(queue, { wait: '20s' });
    await api.send('DELETE', `/leases/${id}`);
    expect((await waiting).jobs).toMatchObject([{ attempt: 1 }, { attempt: 1 }]);
    expect(jobs).toHaveLength(2);
    expect((await api.refusal('DELETE', `/leases/${id}`))[0]).toBe(404);
  });
});
