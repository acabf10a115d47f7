import { afterAll, beforeAll, expect, it } from 'vitest';
import { longestTurnOf, onThisMachine } from '../../testing/processor-time.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { newQueue } from './testing.ts';

let server: TestServer;
beforeAll(async () => {
  // As in production: a second check of requests and responses is for development.
  server = await testServer({ services: ['jobs'], strict: false });
});
afterAll(() => server.close());

/** The most processor time of a turn while a request is answered: the best of a few runs, since the first meets cold code. */
async function longest(path: string, body: object, expected: number): Promise<number> {
  const headers = { authorization: `Bearer ${server.rootToken}`, 'content-type': 'application/json' };
  const text = JSON.stringify(body);
  const turns: number[] = [];
  for (let run = 0; run < 4 && !(Math.min(...turns) < onThisMachine(50)); run++)
    turns.push(
      await longestTurnOf(async () => {
        const answer = await fetch(`${server.url}/jobs/v1${path}`, { method: 'POST', headers, body: text });
        expect(answer.status).toBe(expected);
        // The answer is read to its end, and not parsed.
        for await (const _ of answer.body!);
      }),
    );
  return Math.min(...turns);
}

it('the largest batch keeps no other request waiting for 50 ms, nor does the lease of its jobs', async () => {
  const queue = newQueue();
  const tags = Array.from({ length: 16 }, (_, at) => `tag-${at}`);
  const backoff = { type: 'fixed', delay: '2s', max: '1h' };
  // Nearly as many values and bytes as a body may have.
  const payload = { list: Array.from({ length: 23 }, (_, at) => ({ at })), text: 'x'.repeat(3_200) };
  const job = { name: 'n', queue, tags, backoff, timeout: '5m', max_attempts: 3, payload };
  const jobs = Array.from({ length: 1_000 }, () => job);
  expect(await longest('/jobs/batch', { jobs }, 201)).toBeLessThan(onThisMachine(50));
  expect(await longest('/leases', { queues: [queue], max_jobs: 1_000 }, 200)).toBeLessThan(onThisMachine(50));
});
