import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JobCounts } from '../../../generated/jobs/types.ts';
import { createEngine, JobFailure, Postponed, type Engine } from '../../db/engine/index.ts';
import { retentionSweep } from '../../db/engine/retention.ts';
import { runSweep } from '../../db/sweeps.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { tools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
let engine: Engine;
beforeAll(async () => {
  server = await testServer({ services: ['jobs'] });
  api = tools(server);
  engine = createEngine({ db: server.db, log: pino({ level: 'silent' }), settings: { concurrency: 100 } });
});
afterAll(async () => {
  await engine.stop(0);
  await server.close();
});

const none: JobCounts = { pending: 0, running: 0, completed: 0, failed: 0, retrying: 0, cancelled: 0 };

/** What becomes of a job: the state in which it ends up, and with how many transitions. */
const fates = {
  completes: ['completed', 3],
  fails: ['failed', 3],
  'fails once': ['completed', 5],
  'is tried again tomorrow': ['retrying', 3],
  'is put off': ['pending', 3],
  'is cancelled': ['cancelled', 2],
} as const satisfies Record<string, readonly [keyof JobCounts, number]>;
type Fate = keyof typeof fates;
const names = Object.keys(fates) as Fate[];
const aDayMs = 86_400_000;

/** The same numbers in every run, spread evenly enough. */
let seed = 7;
const random = (below: number) => {
  seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
  return Math.floor((seed / 2 ** 31) * below);
};

function handle({ payload, attempt }: { payload: { fate: Fate }; attempt: number }): void {
  const { fate } = payload;
  if (fate === 'fails') throw new JobFailure('no', { retryable: false });
  if (fate === 'fails once' && attempt === 1) throw new JobFailure('no', { retryInMs: 0 });
  if (fate === 'is tried again tomorrow') throw new JobFailure('no', { retryInMs: aDayMs });
  if (fate === 'is put off') throw new Postponed(aDayMs);
}

test('the numbers are right after a hundred thousand random transitions, and after the end of the retention', async () => {
  const queues = ['q0', 'q1', 'q2'];
  const tenants = ['acme', 'bolt'];
  const jobs = Array.from({ length: 33_000 }, () => {
    const fate = names[random(names.length)]!;
    const [tenant, queue] = [tenants[random(2)]!, queues[random(3)]!];
    return {
      name: fate === 'is cancelled' ? 'cancelled' : 'n',
      queue,
      tenant,
      payload: { fate },
      max_attempts: 2,
    };
  });
  expect(jobs.reduce((sum, { payload }) => sum + fates[payload.fate][1], 0)).toBeGreaterThan(100_000);
  const counted = (of: typeof jobs) =>
    of.reduce<JobCounts>((sums, { payload }) => {
      const [state] = fates[payload.fate];
      return { ...sums, [state]: sums[state] + 1 };
    }, none);

  const isCancelled = ({ name }: { name: string }) => name === 'cancelled';
  const dayLater = (some: typeof jobs) =>
    some.map((job) => (isCancelled(job) ? { ...job, delay: '24h' } : job));
  for (let at = 0; at < jobs.length; at += 1_000) await engine.enqueue(dayLater(jobs.slice(at, at + 1_000)));
  for (const queue of queues) engine.handle(queue, 'n', (job) => handle(job as never));
  await engine.start();
  for (const tenant of tenants)
    for (let remaining = 1; remaining > 0;)
      ({ remaining } = await api.post('/jobs/cancel', { name: 'cancelled' }, { tenant }));

  const counts =
    (tenant: string, query = '') =>
    () =>
      api.send('GET', `/jobs/counts${query}`, { tenant });
  for (const tenant of tenants) {
    const own = jobs.filter((job) => job.tenant === tenant);
    await expect.poll(counts(tenant), { timeout: 60_000, interval: 200 }).toEqual(counted(own));
    for (const queue of queues)
      expect(await counts(tenant, `?queue=${queue}`)()).toEqual(
        counted(own.filter((job) => job.queue === queue)),
      );
    expect(await api.send('GET', '/stats', { tenant })).toEqual({
      jobs: counted(own),
      dlq_count: counted(own).failed,
      workflows: { running: 0, completed: 0, failed: 0 },
    });
  }
  expect(await api.send('GET', '/stats')).toMatchObject({
    jobs: counted(jobs),
    dlq_count: counted(jobs).failed,
  });

  // What has ended in one of the queues is older than the retention.
  await server.db.sql`update jobs.job_done set completed_at = now() + interval '1 hour' where queue <> 'q1'`;
  await runSweep(retentionSweep(server.db, { jobsMs: 1, deadLettersMs: aDayMs, runsMs: aDayMs }));
  const left = jobs.filter(({ queue, payload }) => {
    const [state] = fates[payload.fate];
    return queue !== 'q1' || state === 'pending' || state === 'retrying';
  });
  for (const tenant of tenants) {
    const own = left.filter((job) => job.tenant === tenant);
    await expect.poll(counts(tenant)).toEqual(counted(own));
    await expect.poll(async () => (await api.send('GET', '/stats', { tenant })).jobs).toEqual(counted(own));
  }
}, 120_000);
