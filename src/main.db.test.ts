import { spawn } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { freePort } from './testing/child-server.ts';
import { runMain } from './testing/main.ts';
import { type Surroundings, surroundings } from './testing/processes.ts';
import { childServer, type ChildServer } from './testing/server.ts';

// Each test starts whole processes, some of them several in sequence.
vi.setConfig({ testTimeout: 180_000 });
const patience = { timeout: 60_000 };

let around: Surroundings;
beforeAll(async () => {
  around = await surroundings();
});
afterAll(() => around.close());

/** The complete lines of the log. */
const lines = (server: ChildServer) =>
  server
    .stdout()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { msg: string });

describe('serve', () => {
  test('answers, tells where, keeps its token to itself, and ends in order at SIGTERM', async () => {
    const env = await around.environment();
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

  test('prints an address at which a browser reads the messages to users', async () => {
    const server = await childServer({ services: ['auth'], env: await around.environment() });
    const email = 'ada@example.com';
    const account = { email, password: 'correct horse battery staple', app_id: 'default' };
    expect((await server.request('POST', '/v1/auth/signup', { body: account, token: null })).status).toBe(
      201,
    );
    const [address = ''] = /http\S+outbox\/page\S+/.exec(server.stderr()) ?? [];
    const page = await fetch(address, { headers: { accept: 'text/html' } });
    const text = await page.text();
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    expect(text).toContain(`To ${email} · verify email`);
    expect(text).toMatch(/<a href="http:[^"]+verify-email\?token=vrf_\w+">/);
    expect((await fetch(`${address.slice(0, -4)}AAAA`)).status).toBe(400);
    await server.kill();
  });

  test('where other machines reach it, it is production, and says what that means', async () => {
    const env = {
      ...(await around.environment()),
      HOST: '0.0.0.0',
      PLINTH_PUBLIC_URL: 'https://plinth.example.com',
      PLINTH_ROOT_TOKEN: '',
      PLINTH_CONTRACT: 'fast',
    };
    const server = await childServer({ services: ['auth', 'keys'], env });
    const token = (await readFile(join(env.PLINTH_DATA_DIR, 'root-token'), 'utf8')).trim();
    expect(server.stderr()).not.toContain(token);
    expect(server.stderr()).toMatch(/This is production, because other machines reach 0\.0\.0\.0\.\n/);
    expect(server.stderr()).not.toContain('/dev/outbox');

    const discovery = await server.request('GET', '/auth/v1/auth/.well-known/openid-configuration');
    expect(discovery.body).toMatchObject({ issuer: 'https://plinth.example.com/auth/v1/auth' });
    expect((await server.request('GET', '/auth/v1/auth/dev/outbox', { token })).status).toBe(404);

    // Rate limits by address apply.
    const signups = Array.from({ length: 40 }, (_, at) =>
      server.request('POST', '/auth/v1/auth/signup', {
        token: null,
        body: { email: `user${at}@example.com`, password: 'correct horse battery staple', app_id: 'default' },
      }),
    );
    const taken = (await Promise.all(signups)).filter(({ status }) => status === 201);
    expect(taken.length).toBeLessThanOrEqual(20);

    // Metrics are for the local machine, and for callers with the scope `metrics:read`.
    const scrape = async (headers: Record<string, string>) =>
      (await server.request('GET', '/metrics', { token: null, headers })).status;
    const forwarded = { 'x-forwarded-for': '203.0.113.7' };
    expect(await scrape({})).toBe(200);
    expect(await scrape(forwarded)).toBe(401);
    expect(await scrape({ ...forwarded, authorization: `Bearer ${token}` })).toBe(200);
    const keyOf = async (scopes: string[]) => {
      const made = await server.request('POST', '/keys/v1/keys', {
        token,
        body: { name: 'Scraper', scopes },
      });
      return (made.body as { raw_key: string }).raw_key;
    };
    expect(await scrape({ ...forwarded, 'x-api-key': await keyOf(['metrics:read']) })).toBe(200);
    expect(await scrape({ ...forwarded, 'x-api-key': await keyOf(['keys:read']) })).toBe(403);
    await server.kill();
  });

  test('is told to end while it starts, and while it drains it still serves', async () => {
    const env = { ...(await around.environment()), PLINTH_DRAIN: '2s' };
    expect(await endedWhileStarting(['serve', 'keys', '--port', '0'], env)).toBe(0);
    const server = await childServer({ services: ['keys'], env });
    const ended = server.kill('SIGTERM');
    const ready = async () => (await server.request('GET', '/readyz')).status;
    await expect.poll(ready, { interval: 5 }).toBe(503);
    expect((await server.request('GET', '/v1/keys')).status).toBe(200);
    expect(await ended).toBe(0);
  });

  test('started by npm, it gets the signal that npm got', async () => {
    const port = await freePort();
    const npm = spawn('npm', ['start', '--', 'keys', '--port', String(port)], {
      env: { ...process.env, ...(await around.environment()), PLINTH_CONTRACT: 'fast' },
      cwd: new URL('..', import.meta.url),
      stdio: 'ignore',
    });
    const ended = new Promise<number | null>((resolve) => npm.once('exit', resolve));
    const answers = () =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await expect.poll(answers, patience).toBe(true);
    npm.kill('SIGTERM');
    await ended;
    await expect.poll(answers, patience).toBe(false);
  });

  test.runIf(inject('engine') === 'postgres')(
    'several workers share a port, and one that is killed is replaced',
    async () => {
      const server = await childServer({
        services: ['authz', 'keys'],
        env: { ...(await around.environment()), PLINTH_WORKERS: '2' },
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
    const env = { ...(await around.environment()), PLINTH_WORKERS: '2' };
    expect(await endedWhileStarting(['serve', 'keys', '--port', '0'], env)).toBe(0);
  });
});

test('migrate brings a database up to date, and a second time there is nothing to do', async () => {
  const env = around.withoutTables();
  expect((await runMain(['migrate'], env)).code).toBe(0);
  expect((await runMain(['migrate'], env)).text).toContain('The database is up to date.');
});

/** Starts a server, tells it to end as soon as it has begun to start, and returns its exit code. */
async function endedWhileStarting(words: string[], env: Record<string, string>): Promise<number | null> {
  const main = new URL('./main.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [main, ...words], { env: { PATH: process.env['PATH'], ...env } });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  // The first visible step is the file of the root token, which is written before the database is opened.
  await expect
    .poll(
      () =>
        stat(join(env['PLINTH_DATA_DIR']!, 'root-token')).then(
          () => true,
          () => false,
        ),
      patience,
    )
    .toBe(true);
  child.kill('SIGTERM');
  return ended;
}
