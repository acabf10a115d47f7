/** The loop of a worker against a scripted server: which requests the worker sends, and how it handles the answers. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createPlinth, JobFailure, Postponed, type Worker, type WorkerOptions } from '../src/index.ts';
import { duration, milliseconds } from '../src/runtime/worker/durations.ts';
import { messageOf } from '../src/runtime/worker/failures.ts';
import { workerName } from '../src/runtime/worker/name.ts';
import { pauseAfter } from '../src/runtime/worker/repetition.ts';
import { backoffMs } from '../src/runtime/worker/runs/backoff.ts';
import { type Result, takeBatch } from '../src/runtime/worker/results.ts';
import { serve, type Received, type Reply } from './server.ts';
import { failureOf } from './things.ts';

interface Sent {
  readonly path: string;
  readonly body: Record<string, never>;
}

/** The scripted answer in place of the usual one; undefined for the usual one. */
type Script = (request: Sent, count: number) => Reply | undefined | Promise<Reply | undefined>;

const newJob = (id: string, more: object = {}) => ({
  id,
  name: 'mail',
  queue: 'mails',
  payload: { n: id },
  timeout: '5m',
  started_at: new Date().toISOString(),
  ...more,
});
type Job = ReturnType<typeof newJob>;

/** A server that hands out the given jobs, at once or as they arrive. */
async function jobServer(scripts: Readonly<Record<string, Script>> = {}) {
  const due: Job[] = [];
  const sent: Sent[] = [];
  const counts = new Map<string, number>();
  const events = new EventTarget();
  let leases = 0;
  const arrival = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      events.addEventListener('job', () => (clearTimeout(timer), resolve()), { once: true });
    });

  async function usual({ path, body }: Sent): Promise<Reply> {
    if (path === 'leases') {
      const { wait, max_jobs } = body as unknown as { wait: string; max_jobs: number };
      if (due.length === 0) await arrival(wait === '0s' ? 0 : 20_000);
      const jobs = due.splice(0, max_jobs);
      if (jobs.length === 0) return { body: { id: null, worker: null, expires_at: null, jobs: [] } };
      leases += 1;
      return { body: { id: `lease_${leases}`, worker: null, expires_at: null, jobs } };
    }
    if (path.endsWith('/heartbeat')) return { body: { id: 'lease', expires_at: '', lost: [] } };
    if (path.endsWith('/settle')) return { body: { settled: 1, lost: [] } };
    return path.startsWith('leases') ? { status: 204 } : { body: {} };
  }

  const { url } = await serve((request, response) => {
    const one = sentOf(request);
    sent.push(one);
    const kind = kindOf(request.method, one.path);
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    void (async () => {
      const reply = (await scripts[kind]?.(one, count)) ?? (await usual(one));
      if (reply.status === 0) return response.destroy();
      const headers = { 'Content-Type': 'application/json', ...reply.headers };
      response.writeHead(reply.status ?? 200, headers);
      response.end(reply.body === undefined ? undefined : JSON.stringify(reply.body));
    })();
    return undefined;
  });
  return {
    url,
    sent,
    give(...jobs: Job[]) {
      due.push(...jobs);
      events.dispatchEvent(new Event('job'));
    },
    requests: (kind: string) => sent.filter(({ path }) => path.endsWith(kind)),
    /** All results of jobs, in the order of their reports. */
    settled: () =>
      sent
        .filter(({ path }) => path.endsWith('/settle'))
        .flatMap(({ body }) => Object.values(body as Record<string, object[]>).flat()),
  };
}

const sentOf = ({ url, body }: Received): Sent => ({
  path: url.replace('/jobs/v1/', ''),
  body: (body === '' ? {} : JSON.parse(body)) as Sent['body'],
});

const kindOf = (method: string, path: string) =>
  method === 'DELETE' ? 'release' : path === 'leases' ? 'lease' : (path.split('/').at(-1) ?? '');

const running: Worker[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((worker) => worker.stop(0)));
});

/** Starts a worker of the queue `mails` with one handler of `mail`. */
async function begin(url: string, mail: Handler, options: Partial<WorkerOptions> = {}) {
  const errors: unknown[] = [];
  const worker = workerOf(url, {
    queues: { mails: { mail } },
    onError: (error) => errors.push(error),
    ...options,
  });
  await worker.start();
  return { worker, errors };
}
type Handler = NonNullable<WorkerOptions['queues']>[string][string];

function workerOf(url: string, options: WorkerOptions): Worker {
  const worker = createPlinth({ baseUrl: url }).jobs.worker(options);
  running.push(worker);
  return worker;
}

const gate = () => {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
};
const lease5 = { lease: '5s' };

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

describe('the end of a worker', () => {
  it('lets jobs end within the grace, and takes no more', async () => {
    const server = await jobServer();
    server.give(newJob('1'));
    const job = gate();
    const { worker } = await begin(server.url, () => job.opened);
    const stopped = worker.stop(10_000);
    server.give(newJob('2'));
    job.open();
    await stopped;
    await worker.done;
    expect(server.settled()).toEqual([{ id: '1', output: null }]);
    expect(server.requests('lease_1')).toEqual([]);
  });

  it('gives back what has not ended after the grace, though it reports what has', async () => {
    const server = await jobServer();
    server.give(newJob('slow'), newJob('fast'));
    const reasons: unknown[] = [];
    const fast = gate();
    const { worker, errors } = await begin(server.url, ({ id }, { signal }) =>
      id === 'fast'
        ? fast.opened
        : new Promise((_, reject) =>
            signal.addEventListener('abort', () => {
              reasons.push((signal.reason as Error).message);
              reject(signal.reason as Error);
            }),
          ),
    );
    const stopped = worker.stop(60_000);
    fast.open();
    await expect.poll(() => server.settled()).toEqual([{ id: 'fast', output: null }]);
    await Promise.all([stopped, worker.stop(0)]);
    expect(reasons).toEqual(['the worker stops']);
    expect(server.sent.at(-1)).toEqual({ path: 'leases/lease_1', body: {} });
    expect(server.settled()).toHaveLength(1);
    expect(errors).toEqual([]);
  });

  it('leaves no timer behind', async () => {
    const live = new Set<unknown>();
    const { setTimeout: set, clearTimeout: clear } = globalThis;
    // Node's fetch has timers of its own, which must not be replaced.
    const isOfWorker = () => /sdk\/src\/runtime/.test(new Error().stack?.split('\n')[3] ?? '');
    const own = (callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
      if (!isOfWorker()) return set(callback, ms, ...args);
      const timer = set(() => (live.delete(timer), callback()), ms);
      live.add(timer);
      return timer;
    };
    const server = await jobServer();
    server.give(newJob('hangs'), newJob('fine'), newJob('later'));
    vi.stubGlobal('setTimeout', own);
    vi.stubGlobal('clearTimeout', (timer: NodeJS.Timeout) => (live.delete(timer), clear(timer)));
    try {
      const { worker } = await begin(server.url, ({ id }) => {
        if (id === 'later') throw new Postponed('1s');
        return id === 'fine' ? 1 : new Promise(() => {});
      });
      await expect.poll(() => server.settled().length).toBe(1);
      expect(live.size).toBeGreaterThan(0);
      const ended = vi.fn();
      void worker.done.then(ended);
      await worker.stop(0);
      expect(ended).toHaveBeenCalled();
      await expect.poll(() => live.size).toBe(0);
      await worker.stop();
      expect(live.size).toBe(0);
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it('does not wait for a server that is away for long', async () => {
    const server = await jobServer({ settle: () => ({ status: 503, headers: { 'Retry-After': '60' } }) });
    server.give(newJob('1'));
    const { worker } = await begin(server.url, () => null);
    await expect.poll(() => server.requests('/settle').length).toBe(1);
    const began = performance.now();
    await worker.stop(0);
    expect(performance.now() - began).toBeLessThan(8_000);
  });

  it('comes at once before the start, and a worker that has stopped does not start', async () => {
    const server = await jobServer();
    const worker = workerOf(server.url, { queues: { mails: {} } });
    await worker.stop();
    await worker.done;
    await expect(worker.start()).rejects.toThrow('has been stopped');
    expect(server.sent).toEqual([]);
  });
});

describe('a batch of results', () => {
  const result = (bytes: number): Result => ({ jobId: 'j', end: { kind: 'completed', output: '', bytes } });

  it('has at most 1000 of them and 4 MiB', () => {
    const many = Array.from({ length: 1_500 }, () => result(10));
    expect([takeBatch(many).length, takeBatch(many).length, many.length]).toEqual([1_000, 500, 0]);
    const large = Array.from({ length: 100 }, () => result(65_536));
    expect(takeBatch(large).length).toBe(62);
    expect(takeBatch([result(10_000_000), result(1)]).length).toBe(1);
  });
});

describe('the pause after failures', () => {
  it('doubles up to five seconds, half of it by chance, or is what the server asks for', () => {
    expect([1, 2, 3, 10, 500].map((failures) => pauseAfter(failures, undefined, 1))).toEqual([
      200, 400, 800, 5_000, 5_000,
    ]);
    expect(pauseAfter(1, undefined, 0)).toBe(100);
  });
});

describe('what the server is told', () => {
  it('is an error that it can store, whatever was thrown', () => {
    const pair = '\u{1f600}';
    expect([new Error('no'), new TypeError(''), 'text', 7, ' \0 ', 'a\ud800b'].map(messageOf)).toEqual([
      'no',
      'TypeError',
      'text',
      'failed without a message',
      'failed without a message',
      'a\ufffdb',
    ]);
    expect([...messageOf(pair.repeat(5_000))]).toHaveLength(2_000);
  });

  it('is a duration in its format, never shorter than meant', () => {
    const bounds = [0, 3_600_000] as const;
    expect(['0', '250ms', '1m30s', '1.5s'].map((text) => milliseconds(text, 'x', bounds))).toEqual([
      0, 250, 90_000, 1_500,
    ]);
    for (const text of ['', '1', '1d', '-1s', '2h'])
      expect(() => milliseconds(text, 'x', bounds)).toThrow('x: ');
    expect([0, 0.2, 1_000, 1_500, 90_000].map(duration)).toEqual(['0s', '1ms', '1s', '1500ms', '90s']);
  });

  it('is the name of a worker where it runs', () => {
    expect(workerName()).toMatch(new RegExp(`:${process.pid}$`));
    vi.stubGlobal('process', undefined);
    const nameless = workerName();
    vi.unstubAllGlobals();
    expect(nameless).toMatch(/^worker-\w+$/);
  });

  it('is a delay that doubles up to a bound by chance, or is fixed', () => {
    const delays = [1, 2, 3, 20].map((attempt) => backoffMs({ delay: '2s', max: '1m' }, attempt, 1));
    expect(delays).toEqual([2_000, 4_000, 8_000, 60_000]);
    expect(backoffMs({ type: 'fixed', delay: '3s' }, 9, 0.5)).toBe(3_000);
  });
});
