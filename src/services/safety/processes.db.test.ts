import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { childServer, type ChildServer } from '../../testing/child-server.ts';
import { testDatabase, type TestDatabase } from '../../testing/database.ts';
import { until } from '../../testing/until.ts';
import { type Api, tools } from './testing.ts';

const rootToken = 'processes-of-the-content-safety-service';

const start = (url: string): Promise<ChildServer> =>
  childServer({ services: ['safety'], env: { DATABASE_URL: url, PLINTH_ROOT_TOKEN: rootToken } });

/** As the only service, it is served without a prefix. */
const at = (server: ChildServer): Api => ({
  request: (method, path, options) => server.request(method, path.replace('/safety', ''), options),
});

// The embedded database has one process.
describe.skipIf(inject('engine') === 'pglite')('two processes on one database', () => {
  let db: TestDatabase;
  let url: string;
  let a: ChildServer;
  let b: ChildServer;
  beforeAll(async () => {
    db = await testDatabase({ services: ['safety'] });
    url = db.options.url ?? '';
    [a, b] = await Promise.all([start(url), start(url)]);
  });
  afterAll(async () => {
    await Promise.all([a.kill(), b.kill()]);
    await db.close();
  });

  it('scan by a changed rule, at once where it was changed and soon elsewhere', async () => {
    const text = 'about the internal roadmap';
    await tools(at(b)).scanInput(text);
    await tools(at(a)).create('boundaries', { name: 'hot' });
    await tools(at(a)).create('profiles', { name: 'default', boundaries: ['hot'] });
    expect((await tools(at(a)).scanInput(text)).decision).toBe('block');
    await until(async () => (await tools(at(b)).scanInput(text)).decision === 'block');
  });

  it('scan by a changed rule soon, also when no notice arrives', async () => {
    const text = 'about the quiet change';
    await tools(at(b)).scanInput(text);
    // The connections that carry notices: until they are there again, only the poll tells of changes.
    await db.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query ilike 'listen %' and pid <> pg_backend_pid()`;
    const limits = [{ scope: 'custom', deny: ['quiet change'] }];
    const { id } = await tools(at(a)).create('boundaries', { name: 'quiet', limits });
    const [profile] = await tools(at(a)).send('GET', '/profiles');
    await tools(at(a)).send('PUT', `/profiles/${profile.id}`, { body: { boundaries: ['hot', 'quiet'] } });
    await until(async () => (await tools(at(b)).scanInput(text)).decision === 'block');
    // A part of the profile that changes is as good as a change of the profile.
    await tools(at(a)).send('PUT', `/boundaries/${id}`, { body: { enabled: false } });
    expect((await tools(at(a)).scanInput(text)).decision).toBe('allow');
    await until(async () => (await tools(at(b)).scanInput(text)).decision === 'allow');
  });

  it('restore nothing that the other one has erased, and go on with a new key at once', async () => {
    const tenant = 'erased';
    await tools(at(a)).create('awareness', { name: 'keep', focus: 'pii', action: 'vault', detectors: [] });
    await tools(at(a)).create('profiles', { name: 'keeps', awareness: [{ awareness_name: 'keep' }] });
    const scan = (server: ChildServer) =>
      tools(at(server)).scanInput('who@example.com', { profile: 'keeps' }, { tenant });
    const restored = async (server: ChildServer, text: string) =>
      (await tools(at(server)).send('POST', '/vault/restore', { body: { text }, tenant })).restored as number;
    await until(
      async () =>
        (
          await at(b).request('POST', '/safety/v1/scan/input', {
            body: { text: 'x', profile: 'keeps' },
          })
        ).status === 200,
    );
    for (let round = 0; round < 3; round++) {
      const { redacted } = await scan(b);
      expect(await restored(b, redacted)).toBe(1);
      await tools(at(a)).send('POST', '/vault/erase', { body: { all: true }, tenant });
      expect(await restored(b, redacted)).toBe(0);
      const { redacted: renewed } = await scan(b);
      expect(renewed).not.toBe(redacted);
      expect(await restored(a, renewed)).toBe(1);
    }
  });

  it('let an app have exactly as many rules as it may, however many are made at once', async () => {
    const make = async (index: number) => {
      for (;;) {
        const answer = await at(index % 2 === 0 ? a : b).request('POST', '/safety/v1/reflexes', {
          body: { name: `r ${index}`, triggers: [{ type: 'always' }], actions: [{ type: 'log' }] },
        });
        // On a busy machine some have to come again.
        if (answer.status !== 429) return answer;
      }
    };
    const answers = await Promise.all(Array.from({ length: 500 }, (_, index) => make(index)));
    const made = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status === 409);
    expect([made.length, refused.length]).toEqual([200, 300]);
    expect(refused[0]!.body.error).toBe('app has reached its limit of 200 reflexes');
  }, 60_000);

  it('lose no answered scan when one of them is killed', async () => {
    const api = tools(at(b));
    const answered: string[] = [];
    let running = true;
    const load = Array.from({ length: 8 }, async () => {
      while (running)
        try {
          answered.push((await api.scanOutput('hello', {}, { tenant: 'killed' })).id);
        } catch {
          return;
        }
    });
    await until(() => answered.length > 60);
    await b.kill();
    running = false;
    await Promise.all(load);
    const rows = await db.sql<{ id: string }[]>`select id from safety.scan where tenant_id = 'killed'`;
    const stored = new Set(rows.map(({ id }) => id));
    expect(answered.filter((id) => !stored.has(id))).toEqual([]);
    const stats = await tools(at(a)).send('GET', '/scans/stats', { tenant: 'killed' });
    expect(stats.total_scans).toBe(rows.length);
  }, 60_000);
});
