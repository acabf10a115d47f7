import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createDeadlines } from './deadlines.ts';
import type { Lane } from './lane.ts';
import { createReach } from './reach.ts';
import { serverOptions, standard } from './server-connection.ts';

/*
 * The promise about a lost database: a request is answered with 503 within five seconds, and dead connections are found within ten.
 * The tests of a server that goes away use limits of a second, so these compare those that every server has.
 */
const answeredMs = 5_000;
const foundMs = 10_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Milliseconds until `begin` calls its argument, by a clock that the test moves on. */
async function timeUntil(begin: (done: () => void) => void): Promise<number> {
  const began = performance.now();
  let took = Infinity;
  begin(() => (took = Math.min(took, performance.now() - began)));
  await vi.advanceTimersByTimeAsync(2 * foundMs);
  return took;
}

test('whoever waits for a statement or a connection is answered in time', async () => {
  const waited = await timeUntil((done) => void createDeadlines(standard.wait).add(done));
  expect(waited).toBeGreaterThanOrEqual(standard.wait);
  expect(waited).toBeLessThanOrEqual(answeredMs);
  // How a server that is only slow, or an address without a server, treats a request.
  expect(Math.max(standard.connect, standard.statement)).toBeLessThan(answeredMs);
  expect(serverOptions(1, standard)).toMatchObject({
    connect_timeout: standard.connect / 1_000,
    connection: { statement_timeout: String(standard.statement) },
  });
});

test('a connection that has died silently is found and replaced in time, and no slow statement counts as one', async () => {
  const silent = { inFlight: () => 1, traffic: () => ({ sent: 1, heard: 1 }) };
  const answering = { sql: async () => [], cut: () => {}, end: async () => {} } as unknown as Lane;
  const reach = createReach({ silenceMs: standard.silence, probe: () => answering });
  const found = await timeUntil((done) => reach.watch({ ...silent, cut: done } as unknown as Lane));
  await reach.close();
  expect(found).toBeGreaterThan(standard.statement);
  expect(found + standard.connect).toBeLessThanOrEqual(foundMs);
  // The listener asks after each quarter of the silence, since nothing else is sent on its connection.
  expect(standard.silence / 4 + standard.silence).toBeLessThanOrEqual(foundMs);
});
