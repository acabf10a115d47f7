import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Job } from '../../../generated/jobs/types.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { newQueue, tools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['jobs'] });
  api = tools(server);
});
afterAll(() => server.close());

describe('create', () => {
  it('fills in what is absent', async () => {
    const job = await api.create({}, { tenant: 'acme' });
    expect(job).toMatchObject({
      name: 'email.send',
      queue: 'default',
      state: 'pending',
      payload: {},
      attempt: 0,
      max_attempts: 5,
      started_at: null,
      completed_at: null,
      priority: 0,
      timeout: '5m',
      backoff: { type: 'exponential', delay: '2s', max: '1h' },
      unique_key: null,
      tags: [],
      output: null,
      last_error: null,
      lost_count: 0,
      worker: null,
      lease_expires_at: null,
      origin_id: null,
      scope_app_id: 'default',
      scope_org_id: 'acme',
    });
    expect(await api.job(job.id, { tenant: 'acme' })).toEqual(job);
  });

  it('keeps what is given, and one of equal tags', async () => {
    const given = {
      queue: newQueue(),
      payload: { to: 'ada@example.com', deep: [{ list: [null, 1e308, '€'] }] },
      priority: -7,
      timeout: '90s',
      max_attempts: 2,
      backoff: { type: 'fixed', delay: '1m', max: '1h' },
      tags: ['b', 'a'],
    };
    const job = await api.create({ ...given, timeout: '90s', tags: ['b', 'a', 'b'] });
    expect(job).toMatchObject({ ...given, timeout: '1m30s' });
  });

  it('lets past due times mean now, and refuses two of them', async () => {
    const job = await api.create({ run_at: '2001-01-01T00:00:00Z' });
    expect(Date.parse(job.run_at)).toBeGreaterThan(Date.parse('2026-01-01'));
    const delayed = await api.create({ delay: '1h' });
    expect(Date.parse(delayed.run_at) - Date.parse(delayed.created_at)).toBe(3_600_000);
    const both = { name: 'n', run_at: '2030-01-01T00:00:00Z', delay: '1h' };
    expect(await api.refusal('POST', '/jobs', { body: both })).toEqual([
      400,
      'delay: cannot be given together with run_at',
    ]);
  });

  it.each<[string, object]>([
    ['name', { name: 'with space' }],
    ['name', { name: '' }],
    ['queue', { queue: 'a\0b' }],
    ['queue: plinth.billing is reserved', { queue: 'plinth.billing' }],
    ['queue: workflow.x.v1 is reserved', { queue: 'workflow.x.v1' }],
    ['priority', { priority: 101 }],
    ['priority', { priority: 1.5 }],
    ['max_attempts', { max_attempts: 0 }],
    ['max_attempts', { max_attempts: 1e308 }],
    ['timeout', { timeout: '500ms' }],
    ['timeout', { timeout: '25h' }],
    ['timeout', { timeout: 'soon' }],
    ['backoff.delay', { backoff: { delay: '0s' } }],
    ['backoff.type', { backoff: { type: 'linear' } }],
    ['delay', { delay: '8761h' }],
    ['run_at', { run_at: '2040-01-01T00:00:00Z' }],
    ['unique_key', { unique_key: '' }],
    ['unique_key', { unique_key: 'a\0' }],
    ['unique_key', { unique_key: '\ud800' }],
    ['unique_for', { unique_for: '1h' }],
    ['unique_for', { unique_key: 'k', unique_for: '721h' }],
    ['tags', { tags: Array.from({ length: 17 }, (_, at) => `t${at}`) }],
    ['tags[0]', { tags: ['x'.repeat(65)] }],
    ['payload', { payload: [] }],
    ['payloads', { payloads: {} }],
  ])('refuses a bad %s', async (field, body) => {
    const [status, error] = await api.refusal('POST', '/jobs', { body: { name: 'n', ...body } });
    expect([status, error.startsWith(field)], error).toEqual([400, true]);
  });

  it('bounds the payload by levels', async () => {
    const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) });
    expect(await api.create({ payload: nested(60) })).toMatchObject({ state: 'pending' });
    expect(await api.refusal('POST', '/jobs', { body: { name: 'n', payload: nested(61) } })).toEqual([
      400,
      'payload: must have at most 60 levels',
    ]);
  });

  it('bounds the payload by bytes', async () => {
    const body = (length: number) => ({ name: 'n', payload: { text: 'x'.repeat(length) } });
    expect(await api.create(body(65_536 - 11))).toMatchObject({ state: 'pending' });
    expect(await api.refusal('POST', '/jobs', { body: body(65_536 - 10) })).toEqual([
      413,
      'payload: must have at most 65536 bytes',
    ]);
  });

  it('makes one job of 200 simultaneous requests with one key, in each tenant', async () => {
    const unique_key = newQueue();
    const made = await Promise.all(
      Array.from({ length: 200 }, (_, at) =>
        server.request('POST', '/jobs/v1/jobs', {
          body: { name: 'n', unique_key },
          tenant: at % 2 === 0 ? 'acme' : 'bolt',
        }),
      ),
    );
    expect(made.filter(({ status }) => status === 201)).toHaveLength(2);
    expect(made.filter(({ status }) => status === 200)).toHaveLength(198);
    expect(new Set(made.map(({ body }: { body: Job }) => body.id)).size).toBe(2);
  });

  it('replaces what a waiting job with the key does', async () => {
    const unique_key = newQueue();
    const first = await api.create({ unique_key, payload: { to: 1 } });
    const again = { unique_key, payload: { to: 2 }, delay: '1h', unique_mode: 'replace' };
    const second = await api.create(again);
    expect(second).toMatchObject({ id: first.id, payload: { to: 2 } });
    expect(second.run_at > first.run_at).toBe(true);
  });
});

describe('createBatch', () => {
  it('creates all, or names the one that is refused and creates none', async () => {
    const queue = newQueue();
    const { jobs } = await api.post('/jobs/batch', {
      jobs: [
        { name: 'a', queue, unique_key: queue },
        { name: 'b', queue, unique_key: queue },
        { name: 'c', queue },
      ],
    });
    expect(jobs.map(({ name }: Job) => name)).toEqual(['a', 'a', 'c']);
    const bad = {
      jobs: [
        { name: 'a', queue },
        { name: 'b', queue, timeout: '25h' },
      ],
    };
    const [status, error] = await api.refusal('POST', '/jobs/batch', { body: bad });
    expect([status, error.startsWith('jobs[1].timeout: ')], error).toEqual([400, true]);
    const reserved = { jobs: [{ name: 'a' }, { name: 'b', queue: 'plinth.x' }] };
    expect(await api.refusal('POST', '/jobs/batch', { body: reserved })).toEqual([
      400,
      'jobs[1].queue: plinth.x is reserved',
    ]);
    expect(await api.send('GET', `/jobs/counts?queue=${queue}`)).toMatchObject({ pending: 2 });
  });

  it('takes a thousand jobs and no more', async () => {
    const jobs = (count: number) => ({ jobs: Array.from({ length: count }, () => ({ name: 'n' })) });
    expect((await api.post('/jobs/batch', jobs(1_000))).jobs).toHaveLength(1_000);
    expect((await api.refusal('POST', '/jobs/batch', { body: jobs(1_001) }))[0]).toBe(400);
    expect((await api.refusal('POST', '/jobs/batch', { body: jobs(0) }))[0]).toBe(400);
  });
});

describe('cancel', () => {
  it('ends a waiting job, frees its key, and names the state of any other', async () => {
    const queue = newQueue();
    const { id } = await api.create({ queue, unique_key: queue });
    await api.post(`/jobs/${id}/cancel`);
    expect(await api.job(id)).toMatchObject({ state: 'cancelled', attempt: 0 });
    expect(await api.refusal('POST', `/jobs/${id}/cancel`)).toEqual([
      400,
      'job cannot be cancelled in state cancelled',
    ]);
    await api.create({ queue, unique_key: queue });
    const { job } = await api.take(queue);
    expect(await api.refusal('POST', `/jobs/${job.id}/cancel`)).toEqual([
      400,
      'job cannot be cancelled in state running',
    ]);
  });

  it('cancels by ids, or the oldest that match', async () => {
    const queue = newQueue();
    const made = [];
    for (let at = 0; at < 3; at++) made.push(await api.create({ queue, tags: ['x', `n${at}`] }));
    const byIds = { ids: [made[0]!.id, 'job_01h455vb4pex5vsknk084sn02q'] };
    expect(await api.post('/jobs/cancel', byIds)).toEqual({ cancelled: 1, remaining: 0 });
    expect(await api.post('/jobs/cancel', { queue, tags: ['x', 'n1'] })).toEqual({
      cancelled: 1,
      remaining: 0,
    });
    expect(await api.post('/jobs/cancel', { queue })).toEqual({ cancelled: 1, remaining: 0 });
    for (const body of [{ ...byIds, queue }, {}])
      expect((await api.refusal('POST', '/jobs/cancel', { body }))[0]).toBe(400);
  });

  it('either cancels or lets a worker have the job, in a race', async () => {
    const queue = newQueue();
    const made = (await api.post('/jobs/batch', {
      jobs: Array.from({ length: 40 }, () => ({ name: 'n', queue })),
    })) as { jobs: Job[] };
    const cancelled = Promise.all(
      made.jobs.map(({ id }) => server.request('POST', `/jobs/v1/jobs/${id}/cancel`)),
    );
    const taken = await Promise.all(Array.from({ length: 8 }, () => api.lease(queue, { max_jobs: 5 })));
    const statuses = (await cancelled).map(({ status }) => status);
    const held = taken.reduce((sum, { jobs }) => sum + jobs.length, 0);
    expect(statuses.filter((status) => status === 204).length + held).toBe(
      40 - (await api.send('GET', `/jobs/counts?queue=${queue}`)).pending,
    );
    expect(statuses.every((status) => status === 204 || status === 400)).toBe(true);
  });
});

describe('retry', () => {
  it('makes a delayed job due, and revives what failed or was cancelled', async () => {
    const queue = newQueue();
    const { id } = await api.create({ queue, delay: '1h', max_attempts: 1 });
    await api.post(`/jobs/${id}/retry`);
    const { lease } = await api.take(queue);
    expect(await api.refusal('POST', `/jobs/${id}/retry`)).toEqual([
      400,
      'job cannot be retried in state running',
    ]);
    await api.post(`/jobs/${id}/fail`, { lease_id: lease, error: 'no' });
    expect(await api.send('GET', `/dlq/count?queue=${queue}`)).toEqual({ count: 1 });
    expect(await api.post(`/jobs/${id}/retry`)).toMatchObject({
      state: 'pending',
      attempt: 0,
      last_error: 'no',
    });
    expect(await api.send('GET', `/dlq?queue=${queue}`)).toEqual([]);
    const again = await api.take(queue);
    await api.post(`/jobs/${id}/complete`, { lease_id: again.lease });
    expect((await api.refusal('POST', `/jobs/${id}/retry`))[0]).toBe(400);
  });

  it('refuses a job whose key another one has', async () => {
    const unique_key = newQueue();
    const { id } = await api.create({ unique_key });
    await api.post(`/jobs/${id}/cancel`);
    await api.create({ unique_key });
    expect(await api.refusal('POST', `/jobs/${id}/retry`)).toEqual([
      400,
      'job cannot be retried: another job has its unique_key',
    ]);
  });
});

describe('tenants', () => {
  it('see nothing of each other, and the operator sees all', async () => {
    const { id } = await api.create({}, { tenant: 'acme' });
    const absent = 'job_01h455vb4pex5vsknk084sn02q';
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/cancel'],
      ['POST', '/retry'],
    ] as const) {
      const theirs = await server.request(method, `/jobs/v1/jobs/${id}${path}`, { tenant: 'bolt' });
      const none = await server.request(method, `/jobs/v1/jobs/${absent}${path}`, { tenant: 'bolt' });
      expect([theirs.status, theirs.text]).toEqual([none.status, none.text]);
      expect(theirs.status).toBe(404);
    }
    expect(await api.job(id)).toMatchObject({ scope_org_id: 'acme' });
    expect(await api.refusal('GET', '/jobs/dlq_01h455vb4pex5vsknk084sn02q')).toEqual([
      400,
      'jobId: must be an id that starts with job_',
    ]);
    const named = await api.create({ scope_org_id: 'named' });
    expect(named.scope_org_id).toBe('named');
    expect(await api.send('GET', '/jobs?scope_org_id=named')).toHaveLength(1);
    const batch = { body: { jobs: [{ name: 'n' }, { name: 'n', scope_org_id: 'acme' }] }, tenant: 'bolt' };
    expect(await api.refusal('POST', '/jobs/batch', batch)).toEqual([
      403,
      "jobs[1].scope_org_id: not the caller's own",
    ]);
    const foreign = { body: { name: 'n', scope_org_id: 'acme' }, tenant: 'bolt' };
    expect(await api.refusal('POST', '/jobs', foreign)).toEqual([403, "scope_org_id: not the caller's own"]);
  });
});
