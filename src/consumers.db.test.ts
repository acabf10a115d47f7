import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import type { RelayedEvent } from './db/relay/relay.ts';
import { madeUp } from './testing/made-up-service.ts';
import { metricsOf } from './testing/metrics.ts';
import { testServer, type TestServer } from './testing/server.ts';

// Each test starts a server of its own.
vi.setConfig({ testTimeout: 60_000 });

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** Starts a server of `keys` and of a made-up service that consumes events. */
async function serverWith(
  take: (events: readonly RelayedEvent[], signal: AbortSignal) => Promise<void>,
  env: Record<string, string> = {},
): Promise<TestServer> {
  const audit = madeUp('audit', {}, {}, { consumers: [{ name: 'audit', take }] });
  server = await testServer({ services: ['keys'], modules: [audit], strict: false, env });
  return server;
}

const makeKey = async (to: TestServer) => {
  const { status } = await to.request('POST', '/keys/v1/keys', { body: { name: 'Reports' } });
  expect(status).toBe(201);
};

test('a service is handed the events of the other services, and the metrics tell how far it is', async () => {
  const taken: RelayedEvent[] = [];
  const made = await serverWith(async (events) => void taken.push(...events));
  await makeKey(made);
  await expect.poll(() => taken.map(({ type }) => type)).toEqual(['keys.key.created']);
  expect(taken[0]).toMatchObject({ source: '/keys', tenant: 'default', app: 'default' });
  // Events that every consumer has received are deleted.
  await expect.poll(() => made.db.sql`select from keys.outbox`).toEqual([]);
  const metrics = await metricsOf(made);
  expect(metrics.get('plinth_relay_waiting{service="keys",consumer="audit"}')).toBe(0);
  // The engine also emits events.
  expect(metrics.get('plinth_relay_waiting{service="jobs",consumer="audit"}')).toBe(0);
});

test('what a consumer was not handed before a restart comes after it', async () => {
  const taken: RelayedEvent[] = [];
  let down = true;
  await serverWith(async (events) => {
    if (down) throw new Error('down');
    taken.push(...events);
  });
  await makeKey(server!);
  await delay(500);
  await server!.restart();
  down = false;
  await expect.poll(() => taken.map(({ type }) => type)).toEqual(['keys.key.created']);
});

test('a server ends although a consumer hangs', async () => {
  let asked = 0;
  await serverWith((_, signal) => {
    asked += 1;
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('gave up')));
    });
  });
  await makeKey(server!);
  await expect.poll(() => asked).toBe(1);
  const began = performance.now();
  await server!.close();
  server = undefined;
  expect(performance.now() - began).toBeLessThan(5_000);
});

test('where the engine is off nothing is handed on', async () => {
  let asked = 0;
  await serverWith(async () => void asked++, { PLINTH_JOBS_ENGINE: 'off' });
  await makeKey(server!);
  await delay(1_500);
  expect(asked).toBe(0);
});
