/** Workers that are lost, and those that do not tell the truth about what they hold and what they have done. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Lease } from '../../../generated/jobs/types.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { newQueue, tools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['jobs'] });
  api = tools(server);
});
afterAll(() => server.close());

it('of many ends that are reported of a job at once, one counts', async () => {
  const queue = newQueue();
  for (let round = 0; round < 5; round++) {
    await api.create({ queue, max_attempts: 1 });
    const { lease, job } = await api.take(queue);
    const end = (path: string, body: object) => server.request('POST', `/jobs/v1${path}`, { body });
    const reports = [
      () => end(`/jobs/${job.id}/complete`, { lease_id: lease, output: 'done' }),
      () => end(`/jobs/${job.id}/fail`, { lease_id: lease, error: 'failed' }),
      () => end(`/jobs/${job.id}/snooze`, { lease_id: lease, delay: '1h' }),
      () => end(`/leases/${lease}/settle`, { completed: [{ id: job.id }] }),
      () => end(`/leases/${lease}/settle`, { failed: [{ id: job.id, error: 'failed' }] }),
    ];
    const answers = await Promise.all(Array.from({ length: 30 }, (_, at) => reports[(at + round) % 5]!()));
    const counted = answers.filter(({ status, body }) => status === 200 && (body.settled ?? 1) === 1);
    expect(counted).toHaveLength(1);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
    const [row] = await server.db.sql`
      select (select count(*) from jobs.job where id = ${job.id}) + (select count(*) from jobs.job_done where id = ${job.id}) as jobs,
        (select count(*) from jobs.dlq where job_id = ${job.id}) as letters`;
    const { state } = await api.job(job.id);
    expect(row).toEqual({ jobs: 1, letters: state === 'failed' ? 1 : 0 });
  }
});

it('the lease of another tenant is one that does not exist, whatever is done with it', async () => {
  const queue = newQueue();
  await api.create({ queue }, { tenant: 'acme' });
  const { lease, job } = await api.take(queue, { tenant: 'acme' });
  await api.create({ queue }, { tenant: 'bolt' });
  const own = await api.take(queue, { tenant: 'bolt' });
  const unknown = 'lease_01h455vb4pex5vsknk084sn02q';
  const asked = (id: string) =>
    Promise.all(
      (
        [
          ['POST', `/leases/${id}/heartbeat`, {}],
          ['POST', `/leases/${id}/settle`, { completed: [{ id: job.id }] }],
          ['DELETE', `/leases/${id}`, undefined],
          ['POST', `/jobs/${own.job.id}/complete`, { lease_id: id }],
          ['POST', `/jobs/${own.job.id}/fail`, { lease_id: id, error: 'x' }],
          ['POST', `/jobs/${own.job.id}/snooze`, { lease_id: id, delay: '1s' }],
        ] as [string, string, object | undefined][]
      ).map(([method, path, body]) =>
        api.refusal(method, path, {
          tenant: 'bolt',
          ...(body === undefined ? {} : { body: body }),
        }),
      ),
    );
  const refused = await asked(unknown);
  expect(refused.map(([status]) => status)).toEqual([404, 404, 404, 409, 409, 409]);
  expect(await asked(lease)).toEqual(refused);
  expect(await api.job(job.id, { tenant: 'acme' })).toMatchObject({ state: 'running' });
  expect(
    (await api.refusal('POST', `/jobs/${job.id}/complete`, { tenant: 'bolt', body: { lease_id: lease } }))[0],
  ).toBe(404);
});

it('of five hundred workers at once none gets what another has, and nobody gets a 500', async () => {
  const queue = newQueue();
  const count = 200;
  await api.post('/jobs/batch', { jobs: Array.from({ length: count }, () => ({ name: 'n', queue })) });
  const statuses = new Set<number>();
  const taken: string[] = [];
  await Promise.all(
    Array.from({ length: 500 }, async () => {
      const answer = await server.request('POST', '/jobs/v1/leases', {
        body: { queues: [queue], max_jobs: 1 },
      });
      statuses.add(answer.status);
      if (answer.status === 200) taken.push(...(answer.body as Lease).jobs.map(({ id }) => id));
    }),
  );
  expect([200, 503]).toEqual(expect.arrayContaining([...statuses]));
  expect(new Set(taken).size).toBe(taken.length);
  const [row] = await server.db
    .sql`select count(*)::integer as running from jobs.job where queue = ${queue} and state = 'running'`;
  expect(row).toEqual({ running: taken.length });
});

describe('a lost worker', () => {
  /** Lets a lease expire, as time would. */
  const expire = (id: string) =>
    server.db.sql`update jobs.lease set expires_at = now() - interval '1 second' where id = ${id}`;

  it('loses its jobs, which do not count the attempt, and hears of it', async () => {
    const queue = newQueue();
    await api.create({ queue });
    const { lease, job } = await api.take(queue);
    expect(await api.post(`/leases/${lease}/heartbeat`, { duration: '15m' })).toMatchObject({ lost: [] });
    await expire(lease);
    await expect
      .poll(() => api.job(job.id), { timeout: 20_000 })
      .toMatchObject({
        state: 'pending',
        attempt: 0,
        lost_count: 1,
      });
    expect(await api.refusal('POST', `/leases/${lease}/heartbeat`)).toEqual([404, 'lease not found']);
    expect((await api.refusal('POST', `/jobs/${job.id}/complete`, { body: { lease_id: lease } }))[0]).toBe(
      409,
    );
  });

  it('hears by its heartbeat of a job that took too long', async () => {
    const queue = newQueue();
    await api.create({ queue, timeout: '1s', max_attempts: 1 });
    const { lease, job } = await api.take(queue);
    await server.db
      .sql`update jobs.job set started_at = started_at - interval '10 seconds' where id = ${job.id}`;
    await expect
      .poll(() => api.job(job.id), { timeout: 20_000 })
      .toMatchObject({
        state: 'failed',
        last_error: 'timed out after 1s',
      });
    expect(await api.post(`/leases/${lease}/heartbeat`)).toMatchObject({ id: lease, lost: [job.id] });
  });
});
