/** What becomes of a process when code outside of every request fails. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { until } from './testing/until.ts';
import { childDatabase } from './testing/database.ts';
import { childServer, type ChildServer } from './testing/server.ts';

vi.setConfig({ testTimeout: 120_000 });

/** At a signal, code that nobody waits for fails in the three ways in which a library can fail. */
const failing = `
  import { EventEmitter } from 'node:events';
  import { isMainThread } from 'node:worker_threads';
  if (isMainThread) process.on('SIGUSR2', () => {
    setTimeout(() => { throw new Error('a callback failed'); });
    setTimeout(() => new EventEmitter().emit('error', new Error('nobody listened')));
    void Promise.reject(new Error('nobody waited'));
  });`;

async function started(): Promise<ChildServer> {
  const db = await childDatabase(['keys']);
  onTestFinished(() => db.remove());
  const hook = `--import=data:text/javascript,${encodeURIComponent(failing)}`;
  return await childServer({ services: ['keys'], env: { ...db.env, NODE_OPTIONS: hook } });
}

const strays = async (server: ChildServer) =>
  Number(/^plinth_stray_errors_total (\d+)/m.exec((await server.request('GET', '/metrics')).text)?.[1]);

test('an error outside of every request is logged with its stack and counted, and everything else is served', async () => {
  const server = await started();
  expect(await strays(server)).toBe(0);
  process.kill(server.pid, 'SIGUSR2');
  await until(async () => (await strays(server)) === 3);
  const { status } = await server.request('POST', '/v1/keys', { body: { name: 'Still here' } });
  expect(status).toBe(201);
  expect(await server.kill()).toBe(0);
  for (const text of ['a callback failed', 'nobody listened', 'nobody waited'])
    expect(server.stdout()).toContain(`"stack":"Error: ${text}\\n    at`);
});

test('a process in which they keep coming shuts down in order and ends with an error', async () => {
  const server = await started();
  const ended = until(() => !isAlive(server.pid));
  for (let at = 0; at < 4; at++) {
    if (isAlive(server.pid)) process.kill(server.pid, 'SIGUSR2');
    await until(async () => (await strays(server).catch(() => Infinity)) >= 3 * (at + 1));
  }
  await ended;
  expect(await server.kill()).toBe(1);
  expect(server.stdout()).toContain('shutting down');
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
