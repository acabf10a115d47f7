import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeadLetter } from '../../../generated/jobs/types.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { newQueue, tools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['jobs'] });
  api = tools(server);
});
afterAll(() => server.close());

/** Lets a job fail for good, and returns its dead letter. */
async function letter(body: object = {}, tenant = 'default'): Promise<DeadLetter> {
  const { queue = newQueue() } = body as { queue?: string };
  const { id } = await api.create({ max_attempts: 1, ...body, queue }, { tenant });
  const { lease } = await api.take(queue, { tenant });
  await api.post(`/jobs/${id}/fail`, { lease_id: lease, error: 'smtp: 550' }, { tenant });
  const [found] = await api.send('GET', `/dlq?queue=${queue}`, { tenant });
  return found;
}

describe('a dead letter', () => {
  it('is kept when a job fails for good, and an error is never empty', async () => {
    const found = await letter({ payload: { to: 'ada' }, tags: ['x'] }, 'acme');
    expect(found).toMatchObject({
      job_name: 'email.send',
      error: 'smtp: 550',
      payload: { to: 'ada' },
      attempt: 1,
      max_attempts: 1,
      tags: ['x'],
      scope_org_id: 'acme',
    });
    expect(await api.send('GET', `/dlq/${found.id}`, { tenant: 'acme' })).toEqual(found);
    expect(await api.refusal('GET', `/dlq/${found.id}`, { tenant: 'bolt' })).toEqual([
      404,
      'dlq entry not found',
    ]);
    expect(await api.send('GET', '/dlq/count?tag=x', { tenant: 'acme' })).toEqual({ count: 1 });
  });

  it('is replayed once, as a new job with the same work', async () => {
    const found = await letter({ priority: 3, timeout: '1m' });
    const both = await Promise.all(
      [1, 2].map(() => server.request('POST', `/jobs/v1/dlq/${found.id}/replay`)),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([201, 404]);
    const job = both.find(({ status }) => status === 201)!.body;
    expect(job).toMatchObject({ priority: 3, timeout: '1m', attempt: 0, origin_id: found.job_id });
    expect(await api.job(found.job_id)).toMatchObject({ state: 'failed' });
  });

  it('is replayed with others, by ids or by a filter', async () => {
    const queue = newQueue();
    const letters = [await letter({ queue })];
    for (const name of ['b', 'c']) letters.push(await letter({ queue: newQueue(), name }));
    const absent = 'dlq_01h456c9k2f5tvsknk084sn0aa';
    const ids = [letters[1]!.id, absent, letters[1]!.id];
    expect(await api.post('/dlq/replay', { ids })).toMatchObject({
      replayed: 1,
      not_found: [absent],
      remaining: 0,
    });
    expect(await api.post('/dlq/replay', { queue })).toMatchObject({ replayed: 1, remaining: 0 });
    expect(await api.post('/dlq/replay', { job_name: 'c' })).toMatchObject({ replayed: 1 });
    for (const body of [{}, { ids, queue }])
      expect((await api.refusal('POST', '/dlq/replay', { body }))[0]).toBe(400);
  });

  it('is purged by age, and by the tenant that owns it', async () => {
    const queue = newQueue();
    const found = await letter({ queue }, 'acme');
    expect(await api.post('/dlq/purge', {}, { tenant: 'acme' })).toEqual({ purged: 0 });
    expect(await api.post('/dlq/purge', { older_than: '0s', queue }, { tenant: 'bolt' })).toEqual({
      purged: 0,
    });
    expect(await api.post('/dlq/purge', { older_than: '0s', queue }, { tenant: 'acme' })).toEqual({
      purged: 1,
    });
    expect((await api.refusal('GET', `/dlq/${found.id}`))[0]).toBe(404);
  });
});

describe('queues', () => {
  it('show their limits and the live jobs that the caller may see', async () => {
    const queue = newQueue();
    expect(await api.refusal('GET', `/queues/${queue}`)).toEqual([404, 'queue not found']);
    await api.create({ queue }, { tenant: 'acme' });
    await api.create({ queue, delay: '1h' });
    expect(await api.send('PUT', `/queues/${queue}`, { body: { rate_limit: 20 } })).toMatchObject({
      name: queue,
      rate_limit: 20,
      max_concurrency: 0,
      paused: false,
      counts: { pending: 2, running: 0, retrying: 0 },
    });
    expect(await api.send('PUT', `/queues/${queue}`, { body: { paused: true } })).toMatchObject({
      rate_limit: 20,
      paused: true,
    });
    const seen = await api.send('GET', `/queues/${queue}`, { tenant: 'acme' });
    expect(seen).toMatchObject({ counts: { pending: 1 } });
    expect(seen.oldest_due_at).not.toBeNull();
    const names = (await api.send('GET', '/queues?limit=1000')).map(({ name }: { name: string }) => name);
    expect(names).toContain(queue);
    expect(names).toEqual([...names].sort());
    const mine = { body: { paused: true }, tenant: 'acme' };
    expect((await api.refusal('PUT', `/queues/${queue}`, mine))[0]).toBe(403);
  });
});
