/** The behaviour of the command `serve` that does not depend on the database: messages, modes, signals, ports and keys. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { freePort } from './testing/free-port.ts';
import { childDatabase } from './testing/database.ts';
import { endedWhileStarting, runMain } from './testing/main.ts';
import { childServer } from './testing/server.ts';

// Each test starts whole processes, some of them several in sequence.
vi.setConfig({ testTimeout: 180_000 });
const patience = { timeout: 60_000 };

/** The environment of processes on a database of their own. */
async function environment() {
  const db = await childDatabase(['auth', 'authz', 'keys']);
  onTestFinished(() => db.remove());
  return { ...db.env, PLINTH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') };
}

test('prints an address at which a browser reads the messages to users', async () => {
  const server = await childServer({ services: ['auth'], env: await environment() });
  const email = 'ada@example.com';
  const account = { email, password: 'correct horse battery staple', app_id: 'default' };
  expect((await server.request('POST', '/v1/auth/signup', { body: account, token: null })).status).toBe(201);
  const [address = ''] = /http\S+outbox\/page\S+/.exec(server.stderr()) ?? [];
  const page = await fetch(address, { headers: { accept: 'text/html' } });
  const text = await page.text();
  expect(page.headers.get('content-type')).toMatch(/^text\/html/);
  expect(text).toContain(`To ${email} · verify email`);
  expect(text).toMatch(/<a href="http:[^"]+verify-email\?token=vrf_\w+&amp;app_id=default">/);
  expect((await fetch(`${address.slice(0, -4)}AAAA`)).status).toBe(400);
  await server.kill();
});

test('where other machines reach it, it is production, and says what that means', async () => {
  const env = {
    ...(await environment()),
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
  const env = { ...(await environment()), PLINTH_DRAIN: '2s' };
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
    env: { ...process.env, ...(await environment()), PLINTH_CONTRACT: 'fast' },
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

test('another master key than that of the database is said in a sentence, a new one beside it is taken', async () => {
  const env = await environment();
  const next = { ...env, PLINTH_MASTER_KEY: Buffer.alloc(32, 8).toString('base64') };
  const previous = { ...next, PLINTH_MASTER_KEY_PREVIOUS: env.PLINTH_MASTER_KEY };
  await (await childServer({ services: ['keys'], env })).kill();
  expect(await runMain(['serve', 'keys', '--port', '0'], next)).toEqual({
    code: 1,
    text: expect.stringMatching(
      /^the database was sealed with another master key: .*PREVIOUS when it is replaced\.\n$/,
    ),
  });
  await (await childServer({ services: ['keys'], env: previous })).kill();
  await (await childServer({ services: ['keys'], env: next })).kill();
});

test('a port that is taken is said in a sentence', async () => {
  const server = await childServer({ services: ['keys'], env: await environment() });
  const port = new URL(server.url).port;
  const second = await runMain(['serve', 'keys', '--port', port], await environment());
  expect(second).toEqual({
    code: 1,
    text: `Port ${port} on 127.0.0.1 is taken. Choose another one with --port or PORT.\n`,
  });
  await server.kill();
});
