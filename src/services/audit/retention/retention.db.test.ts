import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EnforceResult, RetentionPolicy } from '../../../../generated/audit/types.ts';
import { type TestRequest, type TestResponse, testServer, type TestServer } from '../../../testing/server.ts';
import { keepEvents } from '../testing.store.ts';
import { anEvent, day, inTenant, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  // The sweep that enforces policies would come before the test.
  server = await testServer({ services: ['audit', 'keys'], env: { PLINTH_JOBS_ENGINE: 'off' } });
  api = tools(server);
  await keepEvents(server.db);
});
afterAll(() => server.close());

let tenants = 0;
const tenant = () => inTenant(`retention-${(tenants += 1)}`);
const policy = (category: string, hours: number, own: TestRequest, more = {}): Promise<RetentionPolicy> =>
  api.send('POST', '/retention', { ...own, body: { category, duration: `${hours}h`, ...more } });
const enforce = (own: TestRequest): Promise<EnforceResult> => api.send('POST', '/retention/enforce', own);
const old = (days: number, more = {}) => ({ timestamp: day(days), ...more });
const actions = async (own: TestRequest) =>
  (await api.list('?order=asc&limit=100', own)).events.map(({ action }) => action);

/** Repeats a request that a busy store put off. */
async function unlessBusy(send: () => Promise<TestResponse>): Promise<TestResponse> {
  for (;;) {
    const answer = await send();
    if (answer.status !== 503) return answer;
  }
}

describe('an enforced policy', () => {
  it('purges the due events of its category, and keeps all others', async () => {
    const own = tenant();
    await api.batch(
      [
        old(60, { action: 'a', category: 'auth' }),
        old(20, { action: 'b', category: 'auth' }),
        old(60, { action: 'c' }),
        { action: 'd', category: 'auth' },
      ],
      own,
    );
    const other = tenant();
    await api.batch([old(60, { action: 'e', category: 'auth' })], other);
    await policy('auth', 720, own);
    expect(await enforce(own)).toEqual({ archived: 0, purged: 1, retained: 2, complete: true });
    expect(await actions(own)).toEqual(['c', 'b', 'd', 'retention_policy.created', 'retention.purged']);
    expect(await api.list('?limit=1', own)).toMatchObject({ total: 5 });
    expect(await actions(other)).toEqual(['e']);
    expect(await enforce(own)).toEqual({ archived: 0, purged: 0, retained: 2, complete: true });
  });

  it('for all categories gives way to that of one, and never concerns what the service did', async () => {
    const own = tenant();
    await policy('*', 720, own);
    await policy('auth', 2_400, own);
    await api.batch(
      [
        old(60, { action: 'a', category: 'auth' }),
        old(60, { action: 'b' }),
        old(200, { action: 'c', category: 'auth' }),
      ],
      own,
    );
    expect(await enforce(own)).toEqual({ archived: 0, purged: 2, retained: 1, complete: true });
    expect((await actions(own)).filter((action) => action.length === 1)).toEqual(['a']);
  });

  it('leaves the numbers and the hashes, so that the chain stays valid', async () => {
    const own = tenant();
    const purged = await api.event({ ...old(60), idempotency_key: 'once', user_id: 'anna' }, own);
    const kept = await api.event({ user_id: 'anna' }, own);
    await policy('data', 720, own);
    await enforce(own);
    expect(await api.refusal('GET', `/events/${purged.id}`, own)).toEqual([404, 'audit: event not found']);
    expect(await api.verify({}, own)).toMatchObject({ valid: true, verified: 4, purged: 1, last_event: 4 });
    expect(await api.verify({ from_seq: 2, to_seq: 2 }, own)).toMatchObject({ valid: true, verified: 1 });
    const [row] = await server.db.sql<{ hash: Buffer; sequence: number }[]>`
      select hash, sequence from audit.events where run_id is not null and stream_id = ${kept.stream_id}`;
    expect([row!.hash.toString('hex'), row!.sequence]).toEqual([purged.hash, 1]);
    const lines = await server.request('GET', `/audit/v1/streams/${kept.stream_id}/export`, own);
    expect(JSON.parse(lines.text.split('\n')[0]!)).toEqual({
      ...{ sequence: 1, hash: purged.hash, record: null, actor: null, content: null },
      run_id: expect.stringMatching(/^retrun_/) as string,
    });
    // Its key is free again.
    expect(await api.event({ idempotency_key: 'once' }, own)).toMatchObject({ sequence: 5 });
  });

  it('says in the chain what it purged, with the digest of what it left', async () => {
    const own = tenant();
    const { events } = await api.batch([old(60), {}, old(61)], own);
    const { id } = await policy('data', 720, own);
    await enforce(own);
    const [act] = (await api.list('?action=retention.purged', own)).events;
    const digest = createHash('sha256');
    for (const at of [0, 2]) {
      const { sequence, hash } = events[at] as { id: string; sequence: number; hash: string };
      const number = Buffer.alloc(8);
      number.writeBigUInt64BE(BigInt(sequence));
      digest.update(number).update(Buffer.from(hash, 'hex'));
    }
    const { run_id, ...told } = act!.metadata as { run_id: string };
    expect(told).toEqual({
      ...{ policy_id: id, count: 2, first_sequence: 1, last_sequence: 3, archive_id: null },
      digest: digest.digest('hex'),
      ...{ category: 'data', from_timestamp: day(61), to_timestamp: day(60) },
    });
    expect(act).toMatchObject({ resource: 'retention', resource_id: run_id, actor_type: 'service' });
    const [emitted] = await server.db.sql`select data from audit.outbox where subject = ${id}`;
    expect(emitted).toMatchObject({ data: { run_id, count: 2, policy_id: id } });
  });

  it('twice at once purges as once', async () => {
    const own = tenant();
    await api.batch(
      Array.from({ length: 300 }, (_, at) => old(60 + (at % 5))),
      own,
    );
    await policy('data', 720, own);
    const results = await Promise.all([enforce(own), enforce(own), enforce(own)]);
    expect(results.reduce((sum, { purged }) => sum + purged, 0)).toBe(300);
    expect(await api.list('?action=retention.purged', own)).toMatchObject({ total: 1 });
    expect(await api.verify({}, own)).toMatchObject({ valid: true, purged: 300 });
  });

  it('by the operator concerns all tenants of the app', async () => {
    const [one, two] = [tenant(), tenant()];
    for (const own of [one, two]) {
      await api.event(old(60), own);
      await policy('data', 720, own);
    }
    expect((await enforce({})).purged).toBe(2);
    expect(await actions(two)).toEqual(['retention_policy.created', 'retention.purged']);
  });

  it('purges again when a remainder was changed, and the change is found', async () => {
    const own = tenant();
    await api.batch([old(60), {}, {}], own);
    await policy('data', 720, own);
    await enforce(own);
    await server.db.transaction(async (sql) => {
      await sql`set local session_replication_role = replica`;
      await sql`update audit.events set hash = ${Buffer.alloc(32, 1)} where run_id is not null and tenant_id = ${own.headers!['X-Tenant-ID']!}`;
    });
    const report = await api.verify({}, own);
    expect(report).toMatchObject({ valid: false, tampered: [1, 2] });
  });
});

describe('a policy', () => {
  it('is replaced under its id, deleted, and each change is in the chain', async () => {
    const own = tenant();
    const first = await policy('auth', 720, own);
    const second = await policy('auth', 800, own, { archive: true });
    expect(second).toMatchObject({
      id: first.id,
      duration: '800h',
      archive: true,
      created_at: first.created_at,
    });
    expect(await api.send('GET', '/retention', own)).toEqual([second]);
    const gone = await server.request('DELETE', `/audit/v1/retention/${first.id}`, own);
    expect([gone.status, await api.send('GET', '/retention', own)]).toEqual([204, []]);
    expect(await actions(own)).toEqual([
      'retention_policy.created',
      'retention_policy.replaced',
      'retention_policy.deleted',
    ]);
    expect(await api.refusal('DELETE', `/retention/${first.id}`, own)).toEqual([
      404,
      'audit: retention policy not found',
    ]);
  });

  it.each([
    ['audit', '720h', 400, 'category audit is reserved'],
    ['x', '59m', 400, 'duration: must be a duration from 1h to 876000h'],
    ['x', '876001h', 400, 'duration: must be a duration from 1h to 876000h'],
    ['x', '719h', 403, 'duration: only the operator may keep events for less than 720h'],
    ['x', '1h', 403, 'duration: only the operator may keep events for less than 720h'],
  ])('for %s of %s is refused to a tenant', async (category, duration, status, message) => {
    const own = { ...tenant(), body: { category, duration } };
    expect(await api.refusal('POST', '/retention', own)).toEqual([status, `audit: ${message}`]);
  });

  it('of an hour is the operator’s to make, and he may keep events that briefly', async () => {
    const { id } = await policy('brief', 1, {});
    const timestamp = new Date(Date.now() - 2 * 3_600_000).toISOString();
    await api.event({ category: 'brief', timestamp });
    await api.event({ category: 'brief' });
    expect((await enforce({})).purged).toBe(1);
    await server.request('DELETE', `/audit/v1/retention/${id}`);
  });

  it('is one of 200 at most, also when many are made at once', async () => {
    const own = tenant();
    const made = await Promise.all(
      Array.from({ length: 205 }, (_, at) =>
        unlessBusy(() =>
          server.request('POST', '/audit/v1/retention', {
            ...own,
            body: { category: `c${at}`, duration: '720h' },
          }),
        ),
      ),
    );
    expect(made.filter(({ status }) => status === 201)).toHaveLength(200);
    const refused = made.find(({ status }) => status !== 201)!;
    expect([refused.status, refused.body]).toEqual([
      400,
      { error: 'audit: category: the tenant has 200 policies' },
    ]);
    const [kept] = made.flatMap(({ status, body }) => (status === 201 ? [body as RetentionPolicy] : []));
    expect(await policy(kept!.category, 900, own)).toMatchObject({ id: kept!.id, duration: '900h' });
  });
});

it('an event that is not due by a millisecond stays', async () => {
  const own = tenant();
  await policy('data', 720, own);
  const timestamp = new Date(Date.now() - 720 * 3_600_000 + 60_000).toISOString();
  await server.request('POST', '/audit/v1/events', { ...own, body: { ...anEvent, timestamp } });
  expect(await enforce(own)).toMatchObject({ purged: 0, retained: 1 });
});
