/** A scripted server of jobs for tests of the loop of a worker, and workers that end with their test. */
import { afterEach } from 'vitest';
import { createPlinth, type Worker, type WorkerOptions } from '../src/index.ts';
import { serve, type Received, type Reply } from './server.ts';

export interface Sent {
  readonly path: string;
  readonly body: Record<string, never>;
}

/** The scripted answer in place of the usual one; undefined for the usual one. */
export type Script = (request: Sent, count: number) => Reply | undefined | Promise<Reply | undefined>;

export const newJob = (id: string, more: object = {}) => ({
  id,
  name: 'mail',
  queue: 'mails',
  payload: { n: id },
  timeout: '5m',
  started_at: new Date().toISOString(),
  ...more,
});
export type Job = ReturnType<typeof newJob>;

/** A server that hands out the given jobs, at once or as they arrive. */
export async function jobServer(scripts: Readonly<Record<string, Script>> = {}) {
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
export async function begin(url: string, mail: Handler, options: Partial<WorkerOptions> = {}) {
  const errors: unknown[] = [];
  const worker = workerOf(url, {
    queues: { mails: { mail } },
    onError: (error) => errors.push(error),
    ...options,
  });
  await worker.start();
  return { worker, errors };
}
export type Handler = NonNullable<WorkerOptions['queues']>[string][string];

export function workerOf(url: string, options: WorkerOptions): Worker {
  const worker = createPlinth({ baseUrl: url }).jobs.worker(options);
  running.push(worker);
  return worker;
}

export const gate = () => {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
};
export const lease5 = { lease: '5s' };
