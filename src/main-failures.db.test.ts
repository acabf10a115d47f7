import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { runMain } from './testing/main.ts';
import { type Surroundings, surroundings } from './testing/processes.ts';
import { childServer } from './testing/server.ts';

// Each test starts whole processes, some of them several in sequence.
vi.setConfig({ testTimeout: 180_000 });

let around: Surroundings;
beforeAll(async () => {
  around = await surroundings();
});
afterAll(() => around.close());

describe('a server that cannot start', () => {
  test('another master key than that of the database is said in a sentence, a new one beside it is taken', async () => {
    const env = await around.environment();
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
    // The following tests use the first key.
    await (
      await childServer({
        services: ['keys'],
        env: { ...env, PLINTH_MASTER_KEY_PREVIOUS: next.PLINTH_MASTER_KEY },
      })
    ).kill();
  });

  test('a port that is taken is said in a sentence', async () => {
    const server = await childServer({ services: ['keys'], env: await around.environment() });
    const port = new URL(server.url).port;
    const second = await runMain(['serve', 'keys', '--port', port], await around.environment());
    expect(second).toEqual({
      code: 1,
      text: `Port ${port} on 127.0.0.1 is taken. Choose another one with --port or PORT.\n`,
    });
    await server.kill();
  });

  test.runIf(inject('engine') === 'pglite')(
    'a data directory that another process has open is said in a sentence',
    async () => {
      const env = { PLINTH_DATA_DIR: join(around.folder, 'shared') };
      const server = await childServer({ services: ['keys'], env });
      expect(await runMain(['serve', 'keys', '--port', '0'], env)).toEqual({
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
    const url = new URL(wrong.startsWith('postgres:') ? wrong : around.databaseUrl!);
    if (wrong === 'no database') url.pathname = '/plinth_no_such';
    if (wrong === 'no user') url.username = 'plinth_no_such';
    const env = { ...(await around.environment()), DATABASE_URL: url.href };
    expect(await runMain(['serve', '--port', '0'], env)).toEqual({ code: 1, text });
  });
});
