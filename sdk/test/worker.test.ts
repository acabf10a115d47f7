/** The loop of a worker against a scripted server: which requests the worker sends, and how it handles the answers. */
import { describe, expect, it, vi } from 'vitest';
import { JobFailure, Postponed } from '../src/index.ts';
import { failureOf } from './things.ts';
import { begin, gate, jobServer, lease5, newJob, workerOf, type Sent } from './worker-tools.ts';

describe('a worker', () => {
  it('executes jobs by their names and reports what became of them', async () => {
    const server = await jobServer();
    server.give(
      ...['nothing', 'plain', 'for good', 'later', 'not now'].map((what) => newJob(what)),
      newJob('unknown', { name: 'constructor' }),
    );
    const heard: unknown[] = [];
    await begin(
      server.url,
      ({ payload }) => {
        if (payload['n'] === 'plain') return { sent: true };
        if (payload['n'] === 'for good') throw new JobFailure('no such address', { retryable: false });
        if (payload['n'] === 'later') throw new JobFailure('', { retryIn: '90m' });
        if (payload['n'] === 'not now') throw new Postponed('1h30m');
        return undefined;
      },
      { name: 'mailer', onError: (error, job) => heard.push([(error as Error).message, job?.id]) },
    );
    await expect.poll(() => server.settled().length + server.requests('/snooze').length).toBe(6);
    expect(server.settled()).toEqual(
      expect.arrayContaining([
        { id: 'nothing', output: null },
        { id: 'plain', output: { sent: true } },
        { id: 'for good', error: 'no such address', retryable: false },
        { id: 'later', error: 'JobFailure', retryable: true, retry_in: '5400s' },
        { id: 'unknown', error: 'no handler for job constructor', retryable: true },
      ]),
    );
    expect(server.requests('/snooze')).toEqual([
      { path: 'jobs/not%20now/snooze', body: { lease_id: 'lease_1', delay: '5400s' } },
    ]);
    expect(server.sent[0]?.body).toEqual({
      queues: ['mails'],
      max_jobs: 16,
      duration: '30s',
      wait: '0s',
      worker: 'mailer',
    });
    expect(heard).toHaveLength(3);
    expect(heard).toContainEqual(['no such address', 'for good']);
  });

  it('takes no more jobs than it has free slots, and asks again as soon as one is free', async () => {
    const server = await jobServer();
    server.give(...['1', '2', '3', '4', '5'].map((id) => newJob(id)));
    const gates = new Map(['1', '2', '3', '4', '5'].map((id) => [id, gate()]));
    let most = 0;
    let now = 0;
    await begin(
      server.url,
      async ({ id }) => {
        most = Math.max(most, (now += 1));
        await gates.get(id)!.opened;
        now -= 1;
      },
      { concurrency: 2 },
    );
    expect(server.requests('leases').map(({ body }) => body['max_jobs'])).toEqual([2]);
    gates.get('2')!.open();
    await expect.poll(() => server.requests('leases').length).toBe(2);
    expect(server.requests('leases')[1]?.body['max_jobs']).toBe(1);
    gates.forEach(({ open }) => open());
    await expect.poll(() => server.settled().length).toBe(5);
    expect(most).toBe(2);
  });

  it('reports together what ends while a report is on its way', async () => {
    const held = gate();
    const server = await jobServer({
      settle: async (_, count) => (count === 1 ? void (await held.opened) : undefined),
    });
    server.give(...['1', '2', '3', '4'].map((id) => newJob(id)));
    const gates = new Map(['1', '2', '3', '4'].map((id) => [id, gate()]));
    await begin(server.url, ({ id }) => gates.get(id)!.opened);
    gates.get('1')!.open();
    await expect.poll(() => server.requests('/settle').length).toBe(1);
    for (const id of ['2', '3', '4']) gates.get(id)!.open();
    held.open();
    await expect.poll(() => server.settled().length).toBe(4);
    expect(
      server.requests('/settle').map(({ body }) => (body as object as { completed: [] }).completed.length),
    ).toEqual([1, 3]);
  });

  it('repeats a report until the server answers, and never reports a job twice in different ways', async () => {
    const server = await jobServer({
      settle: (_, count) => [{ status: 0 }, { status: 503, headers: { 'Retry-After': '0' } }][count - 1],
    });
    server.give(newJob('1'));
    const { errors } = await begin(server.url, () => 'sent');
    await expect.poll(() => server.requests('/settle').length).toBe(3);
    expect(server.settled()).toEqual(Array(3).fill({ id: '1', output: 'sent' }));
    expect(errors.map((error) => (error as Error).message)).toHaveLength(2);
  });

  it('fails the one job whose output the server does not take, and not those reported with it', async () => {
    const held = gate();
    const isTooLarge = ({ body }: Sent) => JSON.stringify(body).includes('huge');
    const server = await jobServer({
      settle: async (sent, count) => {
        if (count === 1) await held.opened;
        return isTooLarge(sent)
          ? { status: 413, body: { error: 'output: larger than 65536 bytes' } }
          : undefined;
      },
    });
    server.give(...['first', 'huge', 'fine'].map((id) => newJob(id)), newJob('circle'));
    const circle: unknown[] = [];
    circle.push(circle);
    const rest = gate();
    await begin(server.url, async ({ id }) => {
      if (id !== 'first') await rest.opened;
      return id === 'circle' ? circle : id === 'huge' ? 'huge output' : id;
    });
    await expect.poll(() => server.requests('/settle').length).toBe(1);
    rest.open();
    held.open();
    await expect
      .poll(() => server.settled())
      .toEqual(
        expect.arrayContaining([
          { id: 'fine', output: 'fine' },
          { id: 'circle', error: expect.stringContaining('circular'), retryable: true },
          { id: 'huge', error: 'output: output: larger than 65536 bytes', retryable: true },
        ]),
      );
  });

  it('renews its leases, and drops jobs that it lost', async () => {
    const server = await jobServer({
      heartbeat: () => ({ body: { id: 'lease_1', expires_at: '', lost: ['lost'] } }),
    });
    server.give(newJob('lost'), newJob('kept'));
    const kept = gate();
    const reasons: string[] = [];
    await begin(
      server.url,
      async ({ id }, { signal }) => {
        signal.addEventListener('abort', () => reasons.push((signal.reason as Error).message));
        if (id === 'kept') await kept.opened;
        else await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return id;
      },
      lease5,
    );
    await expect.poll(() => reasons).toEqual(['the job was taken from this worker']);
    expect(server.requests('/heartbeat')[0]).toEqual({
      path: 'leases/lease_1/heartbeat',
      body: { duration: '5s' },
    });
    kept.open();
    await expect.poll(() => server.settled()).toEqual([{ id: 'kept', output: 'kept' }]);
  });

  it('drops all jobs of a lease that has ended, and takes others', async () => {
    const server = await jobServer({
      heartbeat: () => ({ status: 404, body: { error: 'lease not found' } }),
    });
    server.give(newJob('1'));
    let aborted = 0;
    await begin(
      server.url,
      ({ id }, { signal }) =>
        id === '2'
          ? 'done'
          : new Promise((resolve) => signal.addEventListener('abort', () => resolve((aborted += 1)))),
      { ...lease5, concurrency: 1 },
    );
    await expect.poll(() => aborted).toBe(1);
    server.give(newJob('2'));
    await expect.poll(() => server.settled()).toEqual([{ id: '2', output: 'done' }]);
  });

  it('aborts the signal of a job at its timeout, and fails one that does not end', async () => {
    const server = await jobServer();
    server.give(newJob('ends', { timeout: '50ms' }), newJob('hangs', { timeout: '50ms' }));
    await begin(server.url, ({ id }, { signal }) =>
      id === 'hangs'
        ? new Promise(() => {})
        : new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    );
    const failure = { error: 'timed out after 50ms', retryable: true };
    await expect.poll(() => server.settled()).toEqual([{ id: 'ends', ...failure }]);
    await expect
      .poll(() => server.settled())
      .toEqual([
        { id: 'ends', ...failure },
        { id: 'hangs', ...failure },
      ]);
  });

  it('waits for a server that is away, at the start and later', async () => {
    const away = { status: 503 };
    const server = await jobServer({ lease: (_, count) => (count < 3 || count === 4 ? away : undefined) });
    server.give(newJob('1'));
    const { errors } = await begin(server.url, () => null);
    await expect.poll(() => server.requests('leases').length).toBeGreaterThanOrEqual(5);
    server.give(newJob('2'));
    await expect.poll(() => server.settled().length).toBe(2);
    expect(errors).toHaveLength(3);
  });

  it('is refused at its start when the server says so', async () => {
    const server = await jobServer({ lease: () => ({ status: 401, body: { error: 'who are you?' } }) });
    const worker = workerOf(server.url, { queues: { mails: {} } });
    expect(await failureOf(worker.start())).toMatchObject({ status: 401 });
    await worker.done;
  });

  it.each([
    [{ queues: {} }, 'queues: must be 1 to 20'],
    [{ queues: { a: {} }, concurrency: 0 }, 'concurrency: must be from 1 to 1000'],
    [{ queues: { a: {} }, lease: '1s' }, 'lease: must be from 5s to 900s'],
    [{ queues: { a: {} }, wait: 'long' }, 'wait: must be a duration'],
  ])('refuses the options %j', async (options, message) => {
    await expect(workerOf('http://127.0.0.1:1', options).start()).rejects.toThrow(message);
  });

  it('survives a listener of errors that fails', async () => {
    const console = vi.spyOn(globalThis.console, 'error').mockReturnValue();
    const server = await jobServer();
    server.give(newJob('1'));
    const onError = () => {
      throw new Error('and again');
    };
    await begin(server.url, () => Promise.reject(new Error('failed')), { onError });
    await expect.poll(() => server.settled()).toEqual([{ id: '1', error: 'failed', retryable: true }]);
    expect(console).toHaveBeenCalledOnce();
    console.mockRestore();
  });
});
