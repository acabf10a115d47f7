import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { childServer, type ChildServer } from '../../testing/child-server.ts';
import { testDatabase, type TestDatabase } from '../../testing/database.ts';
import { proxyTo } from '../../testing/proxy.ts';
import { type Body, question, tools, type Tools, tuple } from './testing.ts';

const stalenessMs = 1_000;
const rootToken = 'processes-of-the-authorization-service';

/** Starts a process of the service. As the only service, it is served without a prefix. */
async function start(url: string, env: Record<string, string> = {}): Promise<ChildServer> {
  return childServer({
    services: ['authz'],
    env: { DATABASE_URL: url, PLINTH_ROOT_TOKEN: rootToken, ...env },
  });
}

/** The tools of a tenant at one of the processes. */
const at = (server: ChildServer, tenant: string): Tools =>
  tools(
    { request: (method, path, options) => server.request(method, path.replace('/authz', ''), options) },
    tenant,
  );
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const asked = question('user:a', 'read', 'document:1');
const grant = tuple('document:1#read@user:a');

// The embedded database has one process.
describe.skipIf(inject('engine') === 'pglite')('two processes on one database', () => {
  let db: TestDatabase;
  let url: string;
  let a: ChildServer;
  let b: ChildServer;
  beforeAll(async () => {
    db = await testDatabase({ services: ['authz'] });
    url = db.options.url ?? '';
    [a, b] = await Promise.all([start(url), start(url)]);
  });
  afterAll(async () => {
    await Promise.all([a.kill(), b.kill()]);
    await db.close();
  });

  it('read each other’s writes with min_revision, and with fresh', async () => {
    const [here, there] = [at(a, 'tokens'), at(b, 'tokens')];
    for (let n = 0; n < 30; n += 1) {
      const written = await here.request('POST', '/relations', { body: grant });
      const min_revision = Number(written.headers.get('x-revision'));
      const decision = await there.check('user:a', 'read', 'document:1', { min_revision });
      expect([decision.allowed, decision.revision >= min_revision]).toEqual([true, true]);
      await here.send('POST', '/relations/delete', { body: grant });
      expect((await there.check('user:a', 'read', 'document:1', { fresh: true })).allowed).toBe(false);
    }
  });

  /** Sends checks without a pause until `end`. Returns the time at which each allowed request was sent. */
  async function hammer(api: Tools, end: () => boolean): Promise<number[]> {
    const allowed: number[] = [];
    const worker = async () => {
      while (!end()) {
        const sent = performance.now();
        if ((await api.check('user:a', 'read', 'document:1')).allowed) allowed.push(sent);
      }
    };
    await Promise.all(Array.from({ length: 8 }, worker));
    return allowed;
  }

  it('stop granting in the other process within MAX_STALENESS of a revocation', async () => {
    const [here, there] = [at(a, 'revoke'), at(b, 'revoke')];
    await here.send('POST', '/relations', { body: grant });
    await there.check('user:a', 'read', 'document:1', { fresh: true });
    let revoked = Infinity;
    const hammering = hammer(there, () => performance.now() > revoked + stalenessMs + 500);
    await pause(300);
    await here.send('POST', '/relations/delete', { body: grant });
    revoked = performance.now();
    const allowed = await hammering;
    expect(allowed.length).toBeGreaterThan(0);
    expect(allowed.filter((sent) => sent > revoked + stalenessMs)).toEqual([]);
  });

  it('stop granting within MAX_STALENESS also when the notice is lost', async () => {
    const there = at(b, 'silent');
    await there.send('POST', '/relations', { body: grant });
    let revoked = Infinity;
    const hammering = hammer(there, () => performance.now() > revoked + stalenessMs + 500);
    await pause(300);
    // A write of another process, without its notice.
    await db.transaction(async (sql) => {
      await sql`update authz.tenants set revision = revision + 1, tuples = 0 where tenant_id = 'silent'`;
      await sql`delete from authz.relations where tenant_id = 'silent'`;
      await sql`
        insert into authz.changes (tenant_id, revision, seq, entity, op, body)
        values ('silent', 2, 0, 'relation', 'del', ${[grant]})`;
    });
    revoked = performance.now();
    const allowed = await hammering;
    expect(allowed.length).toBeGreaterThan(0);
    expect(allowed.filter((sent) => sent > revoked + stalenessMs)).toEqual([]);
  });

  it('grant nothing after a pause of the process in which the grant was taken away', async () => {
    const [here, there] = [at(a, 'paused'), at(b, 'paused')];
    await here.send('POST', '/relations', { body: grant });
    expect((await there.check('user:a', 'read', 'document:1', { fresh: true })).allowed).toBe(true);
    process.kill(b.pid, 'SIGSTOP');
    await here.send('POST', '/relations/delete', { body: grant });
    await pause(5_000);
    const answers = Array.from({ length: 8 }, () => there.check('user:a', 'read', 'document:1'));
    process.kill(b.pid, 'SIGCONT');
    expect((await Promise.all(answers)).map(({ allowed }) => allowed)).not.toContain(true);
  });

  it.each([
    ['stopped', 'MAX_STALENESS', 0, {}],
    ['hanging', 'MAX_STALENESS', 0, {}],
    ['stopped', 'MAX_STALENESS and STALE_GRACE', 3_000, { PLINTH_AUTHZ_STALE_GRACE: '3s' }],
  ])(
    'with the database %s decide until %s have passed, then refuse, and recover',
    async (how, _, grace, env) => {
      const proxy = await proxyTo(url);
      const c = await start(proxy.url, env);
      try {
        const api = at(c, `${how}${grace}`);
        const check = () => api.request('POST', '/authz/check', { body: asked });
        await api.send('POST', '/relations', { body: grant });
        expect((await check()).status).toBe(200);
        if (how === 'stopped') await proxy.cut();
        else proxy.freeze();
        const gone = performance.now();
        const statuses: { sent: number; status: number; body: Body; retry: string | null }[] = [];
        while (performance.now() < gone + stalenessMs + grace + 1_500) {
          const sent = performance.now();
          const { status, body, headers } = await check();
          statuses.push({ sent, status, body, retry: headers.get('retry-after') });
          await pause(20);
        }
        expect(statuses[0]?.status).toBe(200);
        const late = statuses.filter(({ sent }) => sent > gone + stalenessMs + grace);
        expect(late.length).toBeGreaterThan(0);
        for (const answer of late)
          expect(answer).toMatchObject({
            ...{ status: 503, body: { error: { code: 503, message: 'store unavailable' } }, retry: '1' },
          });
        // The last validation was at most 200 ms before, so nearly all of the time is used.
        if (grace > 0)
          expect(
            statuses.filter(({ sent, status }) => sent > gone + stalenessMs && status === 200),
          ).not.toEqual([]);
        await proxy.restore();
        await expect.poll(async () => (await check()).status, { timeout: 15_000 }).toBe(200);
      } finally {
        await c.kill('SIGKILL');
        await proxy.close();
      }
    },
    60_000,
  );

  it('leave every batch whole or absent when one is killed, with its change rows, events and counters', async () => {
    const c = await start(url);
    const api = at(c, 'killed');
    const acknowledged = new Set<number>();
    let stop = false;
    const writer = async (lane: number) => {
      for (let n = 0; !stop; n += 1) {
        const batch = lane * 100_000 + n;
        const writes = Array.from({ length: 100 }, (_, i) => tuple(`document:${i}#b${batch}@user:a`));
        const response = await api
          .request('POST', '/relations/batch', { body: { writes } })
          .catch(() => undefined);
        if (response?.status === 200) acknowledged.add(batch);
      }
    };
    const writers = Array.from({ length: 8 }, (_, lane) => writer(lane + 1));
    await expect.poll(() => acknowledged.size, { timeout: 20_000 }).toBeGreaterThan(20);
    await c.kill('SIGKILL');
    stop = true;
    await Promise.all(writers);

    const { sql } = db;
    const batches = await sql<{ relation: string; count: number }[]>`
      select relation, count(*)::int as count from authz.relations where tenant_id = 'killed' group by relation`;
    expect(batches.filter(({ count }) => count !== 100)).toEqual([]);
    const there = new Set(batches.map(({ relation }) => Number(relation.slice(1))));
    expect([...acknowledged].filter((batch) => !there.has(batch))).toEqual([]);
    const [tenant] = await sql<{ revision: number; tuples: number }[]>`
      select revision, tuples from authz.tenants where tenant_id = 'killed'`;
    expect(tenant).toEqual({ revision: batches.length, tuples: batches.length * 100 });
    const [changes] = await sql<Body[]>`
      select count(distinct revision)::int as revisions, sum(jsonb_array_length(body))::int as records
      from authz.changes where tenant_id = 'killed'`;
    expect(changes).toEqual({ revisions: batches.length, records: batches.length * 100 });
    const [events] = await sql<
      Body[]
    >`select count(*)::int as count from authz.outbox where tenant_id = 'killed'`;
    expect(events.count).toBe(batches.length);
  }, 60_000);
});
