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

  it('let an app have exactly as many rules as it may', async () => {
    const answers = await Promise.all(
      Array.from({ length: 260 }, (_, index) =>
        at(index % 2 === 0 ? a : b).request('POST', '/safety/v1/reflexes', {
          body: { name: `r ${index}`, triggers: [{ type: 'always' }], actions: [{ type: 'log' }] },
        }),
      ),
    );
    const made = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status === 409);
    expect([made.length, refused.length]).toEqual([200, 60]);
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
