/** Tests the example workers: each completes jobs, fails those that no further attempt would help, and stops gracefully. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createPlinth, type Plinth } from '@plinth/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { childServer, type ChildServer } from '../src/testing/child-server.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

let data: string;
let server: ChildServer;
let plinth: Plinth;
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'plinth-workers-'));
  // With a second service, the address of each contains its name, as in an all-in-one server.
  server = await childServer({ services: ['jobs', 'keys'], env: { PLINTH_DATA_DIR: data } });
  plinth = createPlinth({ baseUrl: server.url, token: server.rootToken });
}, 60_000);
afterAll(async () => {
  await server.kill();
  await rm(data, { recursive: true });
});

const hasPython = (() => {
  try {
    execFileSync('python3', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();
// Printed, because reporters do not say why a test is skipped.
if (!hasPython) console.warn('examples/workers.test.ts runs no worker in Python: no python3 on PATH');

function start(command: string, file: string): { child: ChildProcess; printed: () => string } {
  const child = spawn(command, [`examples/${file}`], {
    cwd: root,
    env: { ...process.env, PLINTH_URL: server.url, PLINTH_ROOT_TOKEN: server.rootToken },
  });
  // A test that fails half-way must not leave a worker behind.
  process.once('exit', () => child.kill('SIGKILL'));
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return { child, printed: () => text };
}

const enqueue = (to: string, name = 'email.send') =>
  plinth.jobs.jobs.create({
    body: {
      name,
      queue: 'emails',
      payload: { to, template: 'welcome' },
      max_attempts: name === 'email.send' ? 5 : 1,
    },
  });
const jobOf = (jobId: string) => plinth.jobs.jobs.get({ jobId });

describe.each([
  { language: 'TypeScript', command: process.execPath, file: 'worker.ts', isThere: true },
  { language: 'Python', command: 'python3', file: 'worker.py', isThere: hasPython },
])('the worker in $language', ({ command, file, isThere }) => {
  it.skipIf(!isThere)('completes jobs, prints a line for each, and stops gracefully', async () => {
    const early = await enqueue('ada@example.com');
    const { child, printed } = start(command, file);
    const ended = once(child, 'exit');
    await expect.poll(async () => (await jobOf(early.id)).state, { timeout: 20_000 }).toBe('completed');
    const jobs = [
      await enqueue('bob@example.com'),
      await enqueue('nobody'),
      await enqueue('x@y.z', 'email.count'),
    ];
    await expect
      .poll(async () => (await Promise.all(jobs.map(({ id }) => jobOf(id)))).map(({ state }) => state))
      .toEqual(['completed', 'failed', 'failed']);
    expect(await jobOf(early.id)).toMatchObject({
      output: { message_id: expect.stringMatching(/^welcome-/) },
    });
    const [, refused, unknown] = await Promise.all(jobs.map(({ id }) => jobOf(id)));
    expect(refused).toMatchObject({ last_error: 'no address: nobody', attempt: 1 });
    expect(unknown).toMatchObject({ last_error: 'no handler for job email.count' });

    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect(printed()).toMatch(/^working on http:/m);
    expect(printed()).toContain(`${early.id}: welcome to ada@example.com, attempt 1\n`);
    expect(printed()).toMatch(/stopped\n$/);
    const left = await enqueue('late@example.com');
    expect((await jobOf(left.id)).state).toBe('pending');
    await plinth.jobs.jobs.cancel({ jobId: left.id });
  });
});
