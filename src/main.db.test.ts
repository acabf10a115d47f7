import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { endedWhileStarting, runMain } from './testing/main.ts';
import { childServer, type ChildServer } from './testing/server.ts';
import { childDatabase } from './testing/database.ts';

// Each test starts whole processes, some of them several in sequence.
vi.setConfig({ testTimeout: 180_000 });
const patience = { timeout: 60_000 };

/** The environment of processes on a database of their own, which has the tables of these services. */
async function environment(services = ['auth', 'authz', 'keys']) {
  const db = await childDatabase(services);
  onTestFinished(() => db.remove());
  return { ...db.env, PLINTH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') };
}

/** The complete lines of the log. */
const lines = (server: ChildServer) =>
  server
    .stdout()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { msg: string });

describe('serve', () => {
  test('answers, tells where, keeps its token to itself, and ends in order at SIGTERM', async () => {
    const env = await environment();
    const server = await childServer({ services: ['keys'], env: { ...env, PLINTH_ROOT_TOKEN: '' } });
    const file = join(env.PLINTH_DATA_DIR, 'root-token');
    const token = (await readFile(file, 'utf8')).trim();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(server.stderr()).toContain(`Plinth listens on ${server.url}`);
    expect(server.stderr()).toContain(`root token ${token}`);
    expect((await server.request('GET', '/v1/keys', { token })).status).toBe(200);
    expect((await server.request('GET', '/v1/keys', { token: 'wrong' })).status).toBe(401);
    expect(await server.kill('SIGTERM')).toBe(0);
    expect(lines(server).map(({ msg }) => msg)).toEqual(
      expect.arrayContaining(['listening', 'request', 'shutting down']),
    );
    expect(server.stdout()).not.toContain(token);
    const again = await childServer({ services: ['keys'], env: { ...env, PLINTH_ROOT_TOKEN: '' } });
    expect(again.stderr()).not.toContain(token);
    await again.kill();
  });

  test.runIf(inject('engine') === 'pglite')(
    'a data directory that another process has open is said in a sentence',
    async () => {
      const env = await environment();
      const server = await childServer({ services: ['keys'], env });
      expect(await runMain(['serve', 'keys', '--port', '0'], env)).toEqual({
        code: 1,
        text: expect.stringMatching(
          /^the data directory \S+ is in use by process \d+ on \S+: stop it, or choose another directory with PLINTH_DATA_DIR\.\n$/i,
        ),
      });
      await server.kill();
    },
  );

  test.runIf(inject('engine') === 'postgres').each([
    [
      'postgres://127.0.0.1:1/plinth',
      'The database of DATABASE_URL cannot be reached (ECONNREFUSED). Start it, or correct the address.\n',
    ],
    [
      'postgres://nohost.invalid/plinth',
      expect.stringMatching(
        /^The database of DATABASE_URL cannot be reached \(E\w+\)\. Start it, or correct the address\.\n$/,
      ),
    ],
    ['no database', 'The database of DATABASE_URL refuses: database "plinth_no_such" does not exist.\n'],
    ['no user', expect.stringMatching(/^The database of DATABASE_URL refuses: .*plinth_no_such.*\.\n$/)],
  ])('DATABASE_URL with %s is said in a sentence', async (wrong, text) => {
    const env = await environment();
    const url = new URL(wrong.startsWith('postgres:') ? wrong : env.DATABASE_URL!);
    if (wrong === 'no database') url.pathname = '/plinth_no_such';
    if (wrong === 'no user') url.username = 'plinth_no_such';
    expect(await runMain(['serve', '--port', '0'], { ...env, DATABASE_URL: url.href })).toEqual({
      code: 1,
      text,
    });
  });

  test.runIf(inject('engine') === 'postgres')(
    'several workers share a port, and one that is killed is replaced',
    async () => {
      const server = await childServer({
        services: ['authz', 'keys'],
        env: { ...(await environment()), PLINTH_WORKERS: '2' },
      });
      const statuses = async () => {
        const answers = Array.from({ length: 20 }, () => server.request('GET', '/keys/v1/keys'));
        return (await Promise.all(answers)).map(({ status }) => status);
      };
      /** The workers for which the log has this message. */
      const workers = (said: string) =>
        (lines(server) as { msg: string; worker: number }[])
          .filter(({ msg }) => msg === said)
          .map(({ worker }) => worker);
      await expect.poll(() => workers('a worker listens').length, patience).toBe(2);
      expect(await statuses()).toEqual(Array(20).fill(200));
      // Any worker answers for both.
      const metrics = await server.request('GET', '/metrics');
      expect(metrics.text).toContain(
        'plinth_http_request_duration_seconds_count{service="keys",operation="Keys_list",status="200"} 20\n',
      );
      expect(metrics.text).toMatch(/\nprocess_resident_memory_bytes \d+/);

      const [first] = workers('a worker listens');
      process.kill(first!, 'SIGKILL');
      await expect.poll(() => workers('a worker ended and is replaced'), patience).toEqual([first]);
      await expect.poll(() => workers('a worker listens').length, patience).toBe(3);
      expect(await statuses()).toEqual(Array(20).fill(200));

      // A worker that hangs is left out of the metrics, and is replaced.
      const frozen = workers('a worker listens')[1]!;
      process.kill(frozen, 'SIGSTOP');
      const silent = async () => {
        // Connections are distributed in turn, so some reach the worker that hangs.
        const inTime = () => delay(5_000, '', { ref: false });
        const scrape = () =>
          server.request('GET', '/metrics').then(
            ({ text }) => text,
            () => '',
          );
        const answers = Array.from({ length: 4 }, () => Promise.race([scrape(), inTime()]));
        return (await Promise.all(answers)).some((text) => text.includes('plinth_workers{state="silent"} 1'));
      };
      await expect.poll(silent, patience).toBe(true);
      await expect
        .poll(() => workers('a worker does not answer any more and is ended'), patience)
        .toEqual([frozen]);
      await expect.poll(() => workers('a worker listens').length, patience).toBe(4);
      expect(await statuses()).toEqual(Array(20).fill(200));
      expect(await server.kill('SIGTERM')).toBe(0);
      expect(server.stderr()).toContain(`Plinth listens on ${server.url}`);
    },
  );

  test.runIf(inject('engine') === 'postgres')('is told to end while its workers start', async () => {
    const env = { ...(await environment()), PLINTH_WORKERS: '2' };
    expect(await endedWhileStarting(['serve', 'keys', '--port', '0'], env)).toBe(0);
  });
});

test('new-epoch lets all replicas begin again', async () => {
  const env = await environment([]);
  expect((await runMain(['migrate'], env)).code).toBe(0);
  expect(await runMain(['sync', 'new-epoch'], env)).toMatchObject({
    code: 0,
    text: expect.stringContaining('All replicas of 0 data sets begin again.\n'),
  });
  expect((await runMain(['sync', 'other'], env)).text).toContain('There is no command sync other.');
});

test('migrate brings a database up to date, and a second time there is nothing to do', async () => {
  const env = await environment([]);
  expect((await runMain(['migrate'], env)).code).toBe(0);
  expect((await runMain(['migrate'], env)).text).toContain('The database is up to date.');
});
