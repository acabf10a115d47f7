/** How a worker ends, against a scripted server. */
import { describe, expect, it, vi } from 'vitest';
import { Postponed } from '../src/index.ts';
import { begin, gate, jobServer, newJob, workerOf } from './worker-tools.ts';

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
