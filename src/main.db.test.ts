import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { childServer, type ChildServer } from './testing/server.ts';
import { testDatabase, type TestDatabase } from './testing/database.ts';

// Each test starts whole processes, several of them one after the other.
vi.setConfig({ testTimeout: 120_000 });
const patience = { timeout: 60_000 };

let db: TestDatabase;
let folder: string;
beforeAll(async () => {
  db = await testDatabase({ services: ['authz', 'keys'] });
  folder = await mkdtemp(join(tmpdir(), 'plinth-main-'));
});
afterAll(async () => {
  await db.close();
  await rm(folder, { recursive: true, force: true });
});

/** What a process finds in its environment: the database of this engine, a data directory of its own. */
const environment = () => ({
  PLINTH_DATA_DIR: join(folder, Math.random().toString(36).slice(2)),
  // Servers on one database have one.
  PLINTH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  ...(inject('engine') === 'postgres' ? { DATABASE_URL: db.options.url! } : {}),
});

/** The lines of the log that are complete. */
const lines = (server: ChildServer) =>
  server
    .stdout()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { msg: string });

describe('serve', () => {
  test('answers, tells where, keeps its token to itself, and ends in order at SIGTERM', async () => {
    const env = environment();
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

  test('tells where messages to users can be read', async () => {
    const server = await childServer({ services: ['auth'], env: environment() });
    expect(server.stderr()).toContain(`${server.url}/v1/auth/dev/outbox`);
    await server.kill();
  });

  test('another master key than that of the database is said in a sentence, a new one beside it is taken', async () => {
    const env = environment();
    const next = { ...env, PLINTH_MASTER_KEY: Buffer.alloc(32, 8).toString('base64') };
    const previous = { ...next, PLINTH_MASTER_KEY_PREVIOUS: env.PLINTH_MASTER_KEY };
    await (await childServer({ services: ['keys'], env })).kill();
    expect(await run(['serve', 'keys', '--port', '0'], next)).toEqual({
      code: 1,
      text: expect.stringMatching(
        /^the database was sealed with another master key: .*PREVIOUS when it is replaced\.\n$/,
      ),
    });
    await (await childServer({ services: ['keys'], env: previous })).kill();
    await (await childServer({ services: ['keys'], env: next })).kill();
    // The tests after this one have the first key.
    await (
      await childServer({
        services: ['keys'],
        env: { ...env, PLINTH_MASTER_KEY_PREVIOUS: next.PLINTH_MASTER_KEY },
      })
    ).kill();
  });

  test('a port that is taken is said in a sentence', async () => {
    const server = await childServer({ services: ['keys'], env: environment() });
    const port = new URL(server.url).port;
    const second = await run(['serve', 'keys', '--port', port], environment());
    expect(second).toEqual({
      code: 1,
      text: `Port ${port} on 127.0.0.1 is taken. Choose another one with --port or PORT.\n`,
    });
    await server.kill();
  });

  test.runIf(inject('engine') === 'pglite')(
    'a data directory that another process has open is said in a sentence',
    async () => {
      const env = { PLINTH_DATA_DIR: join(folder, 'shared') };
      const server = await childServer({ services: ['keys'], env });
      expect(await run(['serve', 'keys', '--port', '0'], env)).toEqual({
        code: 1,
        text: expect.stringMatching(
          /^the data directory .*shared\S* is in use by process \d+ on \S+: stop it, or choose another directory with PLINTH_DATA_DIR\.\n$/i,
        ),
      });
      await server.kill();
    },
  );

  test.runIf(inject('engine') === 'postgres').each([
    ['postgres://127.0.0.1:1/plinth', 'The database of DATABASE_URL cannot be reached (ECONNREFUSED).\n'],
    [
      'postgres://nohost.invalid/plinth',
      expect.stringMatching(/^The database of DATABASE_URL cannot be reached \(E\w+\)\.\n$/),
    ],
    ['no database', 'The database of DATABASE_URL refuses: database "plinth_no_such" does not exist.\n'],
    ['no user', expect.stringMatching(/^The database of DATABASE_URL refuses: .*plinth_no_such.*\.\n$/)],
  ])('DATABASE_URL with %s is said in a sentence', async (wrong, text) => {
    const url = new URL(wrong.startsWith('postgres:') ? wrong : db.options.url!);
    if (wrong === 'no database') url.pathname = '/plinth_no_such';
    if (wrong === 'no user') url.username = 'plinth_no_such';
    const env = { ...environment(), DATABASE_URL: url.href };
    expect(await run(['serve', '--port', '0'], env)).toEqual({ code: 1, text });
  });

  test.runIf(inject('engine') === 'postgres')(
    'several workers share a port, and one that is killed is replaced',
    async () => {
      const server = await childServer({
        services: ['authz', 'keys'],
        env: { ...environment(), PLINTH_WORKERS: '2' },
      });
      const statuses = async () => {
        const answers = Array.from({ length: 20 }, () => server.request('GET', '/keys/v1/keys'));
        return (await Promise.all(answers)).map(({ status }) => status);
      };
      /** The workers of which the log says this. */
      const workers = (said: string) =>
        (lines(server) as { msg: string; worker: number }[])
          .filter(({ msg }) => msg === said)
          .map(({ worker }) => worker);
      await expect.poll(() => workers('a worker listens').length, patience).toBe(2);
      expect(await statuses()).toEqual(Array(20).fill(200));
      // Whichever worker is asked answers for both.
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
      expect(await server.kill('SIGTERM')).toBe(0);
      expect(server.stderr()).toContain(`Plinth listens on ${server.url}`);
    },
  );
});

describe('the command line', () => {
  test.each<[string[], Record<string, string>, string]>([
    [['frob'], {}, 'There is no command frob. See --help.\n'],
    [['serve', '--prot', '1'], {}, "Unknown option '--prot'. See --help.\n"],
    [['serve', 'mail'], {}, 'serve names the service mail, the services are auth, authz, keys.\n'],
    [['serve', 'billing'], {}, 'serve names the service billing, the services are auth, authz, keys.\n'],
    [['serve', '--stateful'], {}, 'Only the mock can be --stateful.\n'],
    [['serve'], { PORT: 'x' }, 'PORT must be a whole number from 0 to 65535.\n'],
    [
      ['serve', '--port', '0', '--host', '192.0.2.1'],
      {},
      'HOST must be an address of this machine, and 192.0.2.1 is not (EADDRNOTAVAIL).\n',
    ],
    [
      ['serve', '--port', '0', '--data', '/dev/null'],
      {},
      '/dev/null cannot be used (EEXIST). Choose another data directory with --data or PLINTH_DATA_DIR.\n',
    ],
    [
      ['serve', '--port', '0', '--data', '/dev/null'],
      { PLINTH_ROOT_TOKEN: 'r'.repeat(32) },
      expect.stringContaining('Choose another data directory with --data or PLINTH_DATA_DIR.\n'),
    ],
    [
      ['serve'],
      { PLINTH_WORKERS: '2' },
      expect.stringContaining('PLINTH_WORKERS must be 1 without DATABASE_URL'),
    ],
    [
      ['serve'],
      { PLINTH_ANONYMOUS: 'root', HOST: '0.0.0.0' },
      expect.stringContaining('PLINTH_ANONYMOUS must be unset'),
    ],
  ])('%j with %j is refused in a sentence', async (words, env, text) => {
    expect(await run(words, { PLINTH_DATA_DIR: folder, ...env })).toEqual({ code: 1, text });
  });

  test('--help says what there is', async () => {
    const { code, text } = await run(['--help'], {});
    expect(code).toBe(0);
    expect(text).toMatch(/serve .*\n.*mock .*\n.*migrate /);
  });

  test('migrate brings a database up to date, and a second time there is nothing to do', async () => {
    const env = environment();
    expect((await run(['migrate'], env)).code).toBe(0);
    expect((await run(['migrate'], env)).text).toContain('The database is up to date.');
  });
});

/** Runs a command to its end. */
function run(words: string[], env: Record<string, string>): Promise<{ code: number | null; text: string }> {
  const main = new URL('./main.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [main, ...words], {
    env: { PATH: process.env['PATH'], PLINTH_LOG: 'silent', ...env },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => (text += part));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, text })));
}
