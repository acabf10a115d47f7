/** Tests who may do what, and that another tenant's records are like absent ones. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestRequest, testServer, type TestServer } from '../../testing/server.ts';
import { day, inTenant, tools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['audit', 'keys'] });
  api = tools(server);
});
afterAll(() => server.close());

/** Makes an API key. */
async function key(tenant: string, scopes: string[], app?: string): Promise<TestRequest> {
  const headers = { 'X-Tenant-ID': tenant, ...(app === undefined ? {} : { 'X-App-ID': app }) };
  const { body, status, text } = await server.request('POST', '/keys/v1/keys', {
    headers,
    body: { name: `key of ${tenant}`, scopes },
  });
  expect([status, text]).toEqual([201, expect.any(String)]);
  return { token: null, apiKey: body.raw_key as string };
}

const erasure = { subject_id: 'anna', reason: 'r', requested_by: 'd' };
const period = { from: day(3).slice(0, 10), to: day(-1).slice(0, 10) };

describe('scopes', () => {
  const requests: readonly (readonly [scope: string, method: string, path: string, body?: object])[] = [
    ['write', 'POST', '/events', { action: 'a', resource: 'r', category: 'c' }],
    ['write', 'POST', '/events/batch', { events: [{ action: 'a', resource: 'r', category: 'c' }] }],
    ['read', 'GET', '/events'],
    ['read', 'GET', '/events/export/csv'],
    ['read', 'GET', '/events/user/anna'],
    ['read', 'POST', '/events/aggregate', { group_by: 'day' }],
    ['read', 'POST', '/verify', {}],
    ['read', 'GET', '/streams'],
    ['read', 'GET', '/stats'],
    ['read', 'GET', '/reports'],
    ['read', 'GET', '/retention'],
    ['admin', 'POST', '/erasures', erasure],
    ['admin', 'GET', '/erasures'],
    ['admin', 'POST', '/retention', { category: 'c', duration: '720h' }],
    ['admin', 'POST', '/retention/enforce'],
  ];

  it('are needed as documented', async () => {
    const keys = {
      read: await key('scopes', ['audit:read']),
      write: await key('scopes', ['audit:write']),
      admin: await key('scopes', ['audit:admin']),
    };
    for (const [scope, method, path, body] of requests) {
      for (const [held, credential] of Object.entries(keys)) {
        const [status, error] = await api.refusal(method, path, { ...credential, ...(body && { body }) });
        if (held === scope) expect([method, path, held, status < 300]).toEqual([method, path, held, true]);
        else expect([path, status, error]).toEqual([path, 403, `audit: missing scope audit:${scope}`]);
      }
      const [status] = await api.refusal(method, path, { token: null, ...(body && { body }) });
      expect(status).toBe(401);
    }
  });
});

describe('whoever gets events', () => {
  it('needs the right to read them, also in a report, an archive or an export', async () => {
    const own = inTenant('readers');
    const { stream_id } = await api.event({ timestamp: day(60), user_id: 'anna' }, own);
    await api.send('POST', '/retention', {
      ...own,
      body: { category: 'data', duration: '720h', archive: true },
    });
    await api.send('POST', '/retention/enforce', own);
    const [archive] = (await api.send('GET', '/retention/archives', own)) as { id: string }[];
    const requests = [
      ...['soc2', 'hipaa', 'euaiact'].map((kind) => ['POST', `/reports/${kind}`, { period }] as const),
      ['POST', '/reports/custom', { title: 'T', period }],
      ['GET', `/streams/${stream_id}/export`],
      ['GET', `/retention/archives/${archive!.id}/content`],
    ] as const;
    const without = await key('readers', ['audit:write', 'audit:admin']);
    const whole = await key('readers', ['audit:write', 'audit:admin', 'audit:read']);
    for (const [method, path, body] of requests) {
      const sent = body === undefined ? {} : { body };
      expect([path, await api.refusal(method, path, { ...without, ...sent })]).toEqual([
        path,
        [403, 'audit: missing scope audit:read'],
      ]);
      const { status } = await server.request(method, `/audit/v1${path}`, { ...whole, ...sent });
      expect([path, status]).toEqual([path, method === 'POST' ? 201 : 200]);
    }
  });
});

describe('what the operator set for a tenant', () => {
  const policyOf = (category: string, hours = 2_000) => ({ category, duration: `${hours}h` });

  it('is not replaced or deleted by an admin of the tenant, whose own policies are', async () => {
    const admin = await key('governed', ['audit:*']);
    const named = { body: { ...policyOf('data'), tenant_id: 'governed' } };
    const set = await api.send('POST', '/retention', named);
    expect(set).toMatchObject({ tenant_id: 'governed', set_by: 'operator' });
    const spoken = await api.send('POST', '/retention', { ...inTenant('governed'), body: policyOf('auth') });
    expect(spoken).toMatchObject({ set_by: 'operator' });
    for (const { id, category } of [set, spoken] as { id: string; category: string }[]) {
      expect(await api.refusal('POST', '/retention', { ...admin, body: policyOf(category, 1_000) })).toEqual([
        403,
        'audit: category: only the operator may replace a policy that the operator set',
      ]);
      expect(await api.refusal('DELETE', `/retention/${id}`, admin)).toEqual([
        403,
        'audit: only the operator may delete a policy that the operator set',
      ]);
    }
    expect(await api.send('GET', '/retention', admin)).toEqual([spoken, set]);
    const own = await api.send('POST', '/retention', { ...admin, body: policyOf('config') });
    expect(own).toMatchObject({ set_by: 'tenant' });
    await api.send('POST', '/retention', { ...admin, body: policyOf('config', 3_000) });
    const taken = await api.send('POST', '/retention', {
      body: { ...policyOf('config', 4_000), tenant_id: 'governed' },
    });
    expect(taken).toMatchObject({ id: own.id, set_by: 'operator' });
    expect((await api.refusal('DELETE', `/retention/${own.id}`, admin))[0]).toBe(403);
    expect((await api.refusal('DELETE', `/retention/${own.id}`))[0]).toBe(204);
  });

  it('for all categories is not evaded by a policy for one', async () => {
    const admin = await key('governed-whole', ['audit:*']);
    await api.send('POST', '/retention', { body: { ...policyOf('*'), tenant_id: 'governed-whole' } });
    expect(await api.refusal('POST', '/retention', { ...admin, body: policyOf('data', 720) })).toEqual([
      403,
      'audit: category: the operator set the policy for all categories',
    ]);
  });

  it('for all categories counts also where the tenant came first with one', async () => {
    const admin = await key('governed-late', ['audit:*']);
    const timestamp = day(60);
    await api.batch([{ timestamp }, { timestamp, category: 'auth' }], admin);
    await api.send('POST', '/retention', { ...admin, body: policyOf('data', 720) });
    const ofOperator = (category: string, hours: number) =>
      api.send('POST', '/retention', {
        body: { ...policyOf(category, hours), tenant_id: 'governed-late' },
      });
    const { id } = await ofOperator('*', 8_000);
    expect(await api.send('POST', '/retention/enforce', admin)).toMatchObject({ purged: 0, retained: 2 });
    await ofOperator('auth', 720);
    expect(await api.send('POST', '/retention/enforce', admin)).toMatchObject({ purged: 1, retained: 1 });
    await api.refusal('DELETE', `/retention/${id}`);
    expect(await api.send('POST', '/retention/enforce', admin)).toMatchObject({ purged: 1, retained: 0 });
  });

  it('by root on behalf of somebody there is the tenant’s', async () => {
    const headers = { 'X-Tenant-ID': 'spoken-for', 'X-User-ID': 'usr_1' };
    expect(await api.send('POST', '/retention', { headers, body: policyOf('data') })).toMatchObject({
      set_by: 'tenant',
    });
  });

  it('before it was noted by whom is known from the chain, if root set it', async () => {
    const admin = await key('upgraded', ['audit:*']);
    const spoken = { headers: { 'X-Tenant-ID': 'upgraded', 'X-User-ID': 'usr_1' } };
    await api.send('POST', '/retention', { ...admin, body: policyOf('own') });
    await api.send('POST', '/retention', { ...spoken, body: policyOf('spoken') });
    for (const category of ['set', 'left'])
      await api.send('POST', '/retention', { body: { ...policyOf(category), tenant_id: 'upgraded' } });
    const { sql } = server.db;
    await sql`update audit.retention_policies set set_by = 'tenant' where tenant_id = 'upgraded'`;
    await api.send('POST', '/retention', { ...admin, body: policyOf('left') });
    const file = new URL('migrations/0008_root_policies.sql', import.meta.url);
    await server.db.transaction(async (all) => all.unsafe(await readFile(file, 'utf8')));
    const rows =
      await sql`select category, set_by from audit.retention_policies where tenant_id = 'upgraded' order by category`;
    expect(rows.map(({ category, set_by }) => [category, set_by])).toEqual([
      ['left', 'tenant'],
      ['own', 'tenant'],
      ['set', 'operator'],
      ['spoken', 'tenant'],
    ]);
  });

  it('is listed whole, or the tenant must be named', async () => {
    const made = Array.from({ length: 201 }, (_, at) => `many-${at % 2}-${at}`);
    await server.db.sql`
      insert into audit.retention_policies (tenant_id, id, app_id, category, duration, duration_ms, archive)
      select split_part(name, '-', 1) || '-' || split_part(name, '-', 2), 'retpol_' || lpad(split_part(name, '-', 3), 26, '0'),
        'many', name, '720h', 2592000000, false
      from unnest(${made}::text[]) as name`;
    const operator = { headers: { 'X-App-ID': 'many' } };
    expect(await api.refusal('GET', '/retention', operator)).toEqual([
      400,
      'audit: tenant_id: is required, because all tenants have more than 200 policies',
    ]);
    expect(await api.send('GET', '/retention?tenant_id=many-1', operator)).toHaveLength(100);
  });
});

describe('a tenant', () => {
  const [one, two] = [inTenant('one'), inTenant('two')];

  it('gets for what another one has the answer for what does not exist', async () => {
    const event = await api.event({ timestamp: day(40), user_id: 'anna' }, one);
    const made = {
      erasure: await api.send('POST', '/erasures', { ...one, body: erasure }),
      policy: await api.send('POST', '/retention', {
        ...one,
        body: { category: 'data', duration: '720h', archive: false },
      }),
      report: await api.send('POST', '/reports/custom', { ...one, body: { title: 'T', period } }),
    };
    const paths = (ids: Record<string, string>) =>
      [
        ['GET', `/events/${ids['event']}`],
        ['GET', `/events/${ids['event']}/record`],
        ['GET', `/streams/${ids['stream']}`],
        ['GET', `/streams/${ids['stream']}/export`],
        ['POST', '/verify', { stream_id: ids['stream'] }],
        ['GET', `/erasures/${ids['erasure']}`],
        ['DELETE', `/retention/${ids['policy']}`],
        ['GET', `/reports/${ids['report']}`],
        ['GET', `/reports/${ids['report']}/export/csv`],
      ] as const;
    const answers = async (ids: Record<string, string>, who: TestRequest) => {
      const found: [number, string][] = [];
      for (const [method, path, body] of paths(ids))
        found.push(await api.refusal(method, path, { ...who, ...(body && { body }) }));
      return found;
    };
    const theirs = {
      event: event.id,
      stream: event.stream_id,
      erasure: made.erasure.id as string,
      policy: made.policy.id as string,
      report: made.report.id as string,
    };
    const absent = Object.fromEntries(
      Object.entries(theirs).map(([name, id]) => [name, id.replace(/_.*/, '_01h455vb4pex5vsknk084sn02q')]),
    );
    const app = { headers: { ...one.headers, 'X-App-ID': 'second' } };
    for (const who of [two, app]) expect(await answers(theirs, who)).toEqual(await answers(absent, who));
    expect((await answers(absent, two)).map(([status]) => status)).toEqual(paths(absent).map(() => 404));
    // The operator sees them, and so does the tenant.
    for (const who of [{}, one]) {
      expect(await api.get(event.id, who)).toMatchObject({ tenant_id: 'one' });
      expect(await api.send('GET', `/reports/${theirs.report}`, who)).toMatchObject({ tenant_id: 'one' });
      expect(await api.verify({ stream_id: event.stream_id }, who)).toMatchObject({ valid: true });
    }
  });

  it('cannot name another one, nor another app', async () => {
    const foreign = { ...two };
    const event = { action: 'a', resource: 'r', category: 'c' };
    const named: readonly (readonly [method: string, path: string, body?: object])[] = [
      ['POST', '/events', { ...event, tenant_id: 'one' }],
      ['POST', '/events', { ...event, app_id: 'second' }],
      ['POST', '/events/batch', { events: [event, { ...event, tenant_id: 'one' }] }],
      ['POST', '/erasures', { ...erasure, tenant_id: 'one' }],
      ['POST', '/reports/soc2', { period, tenant_id: 'one' }],
      ['POST', '/retention', { category: 'c', duration: '720h', tenant_id: 'one' }],
      ['POST', '/reports/custom', { title: 'T', period, app_id: 'second' }],
      ['POST', '/events/aggregate', { group_by: 'day', tenant_id: 'one' }],
      ['GET', '/events?tenant_id=one'],
      ['GET', '/events/export/ndjson?tenant_id=one'],
      ['GET', '/events/user/anna?tenant_id=one'],
      ['GET', '/stats?tenant_id=one'],
      ['GET', '/erasures?tenant_id=one'],
      ['GET', '/reports?tenant_id=one'],
      ['GET', '/streams?tenant_id=one'],
      ['GET', '/retention?tenant_id=one'],
      ['GET', '/retention/archives?tenant_id=one'],
    ];
    for (const [method, path, body] of named) {
      const [status, error] = await api.refusal(method, path, { ...foreign, ...(body && { body }) });
      expect([path, body, status, error]).toEqual([
        path,
        body,
        403,
        expect.stringMatching(/^audit: .*(tenant|app)_id/),
      ]);
    }
    expect((await api.list('', two)).total).toBe(0);
  });

  it('with a key of its own is confined to its tenant and app', async () => {
    const admin = await key('three', ['audit:*']);
    const event = await api.event({}, admin);
    expect(event).toMatchObject({
      tenant_id: 'three',
      recorded_by: expect.stringMatching(/^key:key_/) as string,
    });
    expect((await api.list('', admin)).events).toEqual([event]);
    const other = await key('three', ['audit:*'], 'second');
    expect((await api.list('', other)).total).toBe(0);
    expect(await api.refusal('POST', '/verify', { ...other, body: { stream_id: event.stream_id } })).toEqual([
      404,
      'audit: stream not found',
    ]);
    expect(
      await api.refusal('POST', '/retention', { ...admin, body: { category: '*', duration: '719h' } }),
    ).toEqual([403, 'audit: duration: only the operator may keep events for less than 720h']);
    expect(
      (await api.refusal('POST', '/erasures', { ...admin, body: { ...erasure, tenant_id: 'one' } }))[0],
    ).toBe(403);
  });
});

describe('the operator', () => {
  it('records, erases and reports for a tenant that it names', async () => {
    const event = await api.event({ tenant_id: 'named', user_id: 'anna' });
    expect(event).toMatchObject({ tenant_id: 'named', sequence: 1 });
    const batch = await api.batch([{ tenant_id: 'named' }, { tenant_id: 'named-too' }, {}]);
    expect(batch.events).toMatchObject([{ sequence: 2 }, { sequence: 1 }, { duplicate: false }]);
    const own = inTenant('named');
    expect((await api.list('', own)).total).toBe(2);
    const made = await api.send('POST', '/erasures', { body: { ...erasure, tenant_id: 'named' } });
    expect(made).toMatchObject({ tenant_id: 'named', events_affected: 1 });
    expect(await api.send('GET', `/erasures/${made.id}`, own)).toEqual(made);
    const report = await api.send('POST', '/reports/soc2', { body: { period, tenant_id: 'named' } });
    expect(await api.send('GET', `/reports/${report.id}`, own)).toEqual(report);
    expect(await api.send('GET', '/stats?tenant_id=named')).toMatchObject({ total_events: 4 });
    const streams = await api.send('GET', '/streams');
    expect((streams as { tenant_id: string }[]).map(({ tenant_id }) => tenant_id)).toEqual(
      expect.arrayContaining(['named', 'named-too']),
    );
  });
});
