import { afterAll, beforeAll, expect, it } from 'vitest';
import { leastTurnOf, onThisMachine } from '../../testing/processor-time.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { newQueue } from './testing.ts';

let server: TestServer;
beforeAll(async () => {
  // As in production: a second check of requests and responses is for development.
  server = await testServer({ services: ['jobs'], strict: false });
});
afterAll(() => server.close());

const bound = () => onThisMachine(50);

/** Sends a request, and reads the answer to its end without parsing it. */
function asking(path: string, body: object, expected: number): () => Promise<void> {
  const headers = { authorization: `Bearer ${server.rootToken}`, 'content-type': 'application/json' };
  const text = JSON.stringify(body);
  return async () => {
    const answer = await fetch(`${server.url}/jobs/v1${path}`, { method: 'POST', headers, body: text });
    expect(answer.status).toBe(expected);
    for await (const _ of answer.body!);
  };
}

it('the largest batch keeps no other request waiting for 50 ms, nor does the lease of its jobs', async () => {
  const queue = newQueue();
  const tags = Array.from({ length: 16 }, (_, at) => `tag-${at}`);
  const backoff = { type: 'fixed', delay: '2s', max: '1h' };
  // Nearly as many values and bytes as a body may have.
  const payload = { list: Array.from({ length: 23 }, (_, at) => ({ at })), text: 'x'.repeat(3_200) };
  const job = { name: 'n', queue, tags, backoff, timeout: '5m', max_attempts: 3, payload };
  const jobs = Array.from({ length: 1_000 }, () => job);
  const enqueue = asking('/jobs/batch', { jobs }, 201);
  expect(await leastTurnOf(enqueue, bound)).toBeLessThan(bound());
  const lease = asking('/leases', { queues: [queue], max_jobs: 1_000 }, 200);
  expect(await leastTurnOf(lease, bound, enqueue)).toBeLessThan(bound());
});
