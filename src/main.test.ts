/** Commands that end before anything is opened. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runMain, runProgram } from './testing/main.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plinth-command-line-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the command line', () => {
  test.each<[string[], Record<string, string>, string]>([
    [['frob'], {}, 'There is no command frob. See --help.\n'],
    [['serve', '--prot', '1'], {}, "Unknown option '--prot'. See --help.\n"],
    [
      ['serve', 'mail'],
      {},
      'serve names the service mail, the services are auth, authz, keys, jobs, safety, audit, webhooks, storage, billing, sync.\n',
    ],
    [
      ['serve', 'gateway'],
      {},
      'serve names the service gateway, the services are auth, authz, keys, jobs, safety, audit, webhooks, storage, billing, sync.\n',
    ],
    [['serve', '--stateful'], {}, 'Only the mock can be --stateful.\n'],
    [['serve'], { PORT: 'x' }, 'PORT must be a whole number from 0 to 65535.\n'],
    [
      ['serve', '--port', '0', '--host', '192.0.2.1'],
      { PLINTH_PUBLIC_URL: 'https://plinth.example.com' },
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
      ['serve', '--port', '0', '--data', '/proc/plinth'],
      {},
      '/proc/plinth cannot be used (ENOENT). Choose another data directory with --data or PLINTH_DATA_DIR.\n',
    ],
    [
      ['serve', '--host', '0.0.0.0'],
      {},
      expect.stringMatching(/^PLINTH_PUBLIC_URL must be set, since HOST is 0\.0\.0\.0, .*\.\n$/),
    ],
    [
      ['serve'],
      { PLINTH_AUTH_RATELIMIT: 'on' },
      'PLINTH_AUTH_RATELIMIT is not a setting; the nearest one is PLINTH_AUTH_RATE_LIMIT.\n',
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
    expect(await runMain(words, { PLINTH_DATA_DIR: folder, ...env })).toEqual({ code: 1, text });
  });

  test('the mock says where it is missing that it is for development', async () => {
    const hidden =
      "import { registerHooks } from 'node:module';" +
      "registerHooks({ resolve(name, context, next) { return next(name === '@stoplight/prism-http' ? 'not-installed' : name, context); } });";
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hidden)}` };
    expect(await runMain(['mock', '--port', '0'], env)).toEqual({
      code: 1,
      text: expect.stringMatching(/^The mock is for development .*: run `npm ci` .*\.\n$/),
    });
  });

  test('--help says what there is', async () => {
    const { code, text } = await runMain(['--help'], {});
    expect(code).toBe(0);
    expect(text).toMatch(/serve .*\n.*mock .*\n.*migrate /);
  });

  test.each([
    [['--help'], 0, /^Plinth: .*\n\n {2}plinth serve /],
    [['--version'], 0, /^Plinth \d+\.\d+\.\d+ on Node\.js v24\S+\n$/],
    [
      ['serve'],
      1,
      /^Plinth needs Node\.js 24 or newer, and this is v24\S+ .*`npm rebuild node` does\. In production, install it on the machine\.\n$/,
    ],
  ])('an old Node.js is told so, but gets help and the version: %j', async (words, code, text) => {
    const launcher = new URL('../bin/plinth.cjs', import.meta.url).pathname;
    const old = `Object.defineProperty(process.versions, 'node', { value: '20.1.0' }); require(${JSON.stringify(launcher)})`;
    const ended = await runProgram(process.execPath, ['-e', old, 'plinth', ...words]);
    expect(ended).toEqual({ code, text: expect.stringMatching(text) });
  });
});
