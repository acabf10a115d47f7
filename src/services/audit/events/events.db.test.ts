import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { anEvent, inTenant, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['audit', 'keys'] });
  api = tools(server);
});
afterAll(() => server.close());

const zeros = '0'.repeat(64);
let tenants = 0;
const tenant = () => inTenant(`events-${(tenants += 1)}`);

describe('an event', () => {
  it('is recorded with its defaults, and read as it was recorded', async () => {
    const own = tenant();
    const event = await api.event({}, own);
    expect(event).toMatchObject({
      ...anEvent,
      ...{ sequence: 1, outcome: 'success', severity: 'info', actor_type: 'user', metadata: {} },
      ...{ user_id: null, ip: null, user_agent: null, resource_id: null, subject_id: null, reason: null },
      ...{ prev_hash: zeros, erased: false, erasure_id: null, source: null, recorded_by: 'root:root' },
      tenant_id: own.headers!['X-Tenant-ID'],
    });
    expect(await api.get(event.id, own)).toEqual(event);
  });

  it('names the hash of the one before', async () => {
    const own = tenant();
    const first = await api.event({}, own);
    const second = await api.event({ user_id: 'usr_1', ip: '2001:db8::1', metadata: { a: [1, 'x'] } }, own);
    expect([second.sequence, second.prev_hash, second.stream_id]).toEqual([2, first.hash, first.stream_id]);
    expect(await api.verify({}, own)).toMatchObject({ valid: true, verified: 2, head_hash: second.hash });
  });

  it('keeps everything that was sent', async () => {
    const own = tenant();
    const sent = {
      timestamp: '2026-01-20T10:30:01.500999+02:00',
      ...{ user_id: 'ü/%25 "usr"', actor_type: 'robot', ip: '203.0.113.7', user_agent: 'curl/8' },
      ...{ action: 'sign in', resource: 'session', category: 'auth', resource_id: 'x'.repeat(512) },
      ...{ subject_id: 'user', outcome: 'denied', severity: 'critical', reason: 'because\n"so"' },
      metadata: { __proto__x: 1, nested: { deep: [null, true, -0, 1e21, 'é\u2028'] } },
    };
    const event = await api.event(sent, own);
    const expected = {
      ...sent,
      timestamp: '2026-01-20T08:30:01.500Z',
      metadata: JSON.parse(JSON.stringify(sent.metadata)),
    };
    expect(event).toMatchObject(expected);
    expect(await api.get(event.id, own)).toEqual(event);
    expect((await api.list('?user_id=' + encodeURIComponent(sent.user_id), own)).events).toEqual([event]);
    expect((await api.send('GET', `/events/user/${encodeURIComponent(sent.user_id)}`, own)).events).toEqual([
      event,
    ]);
  });

  it.each<[object, string]>([
    [{ action: undefined }, 'audit: action: required'],
    [{ category: 'audit' }, 'audit: category audit is reserved'],
    [{ ip: '10.0.0' }, 'audit: ip: is not an IP address'],
    [{ ip: 'fe80::1%eth0' }, 'audit: ip: is not an IP address'],
    [{ timestamp: '1999-12-31T23:59:59Z' }, 'audit: timestamp: must be from 2000-01-01 to 5 minutes ahead'],
    [{ timestamp: '2999-12-31T23:59:59Z' }, 'audit: timestamp: must be from 2000-01-01 to 5 minutes ahead'],
    [{ metadata: { a: 'x'.repeat(33_000) } }, 'audit: metadata: is larger than 32768 bytes'],
    [
      { metadata: { a: { b: { c: { d: { e: { f: { g: { h: {} } } } } } } } } },
      'audit: metadata: must have at most 8 levels',
    ],
    [{ nonsense: 1 }, 'audit: nonsense: unknown'],
  ])('is refused: %j', async (body, message) => {
    expect(await api.refusal('POST', '/events', { body: { ...anEvent, ...body } })).toEqual([400, message]);
  });

  it.each(['a\0b', '\ud800'])('does not take the text %j', async (text) => {
    for (const member of ['user_id', 'reason', 'resource_id'])
      expect((await api.refusal('POST', '/events', { body: { ...anEvent, [member]: text } }))[0]).toBe(400);
    expect((await api.refusal('POST', '/events', { body: { ...anEvent, metadata: { text } } }))[0]).toBe(400);
  });
});

describe('a repeated key', () => {
  it('gives the stored event', async () => {
    const own = tenant();
    const first = await api.event({ idempotency_key: 'one', reason: 'why' }, own);
    const again = await server.request('POST', '/audit/v1/events', {
      ...own,
      body: { ...anEvent, idempotency_key: 'one', reason: 'why' },
    });
    expect([again.status, again.body]).toEqual([200, first]);
  });

  it('is refused for another event, and belongs to its tenant alone', async () => {
    const own = tenant();
    await api.event({ idempotency_key: 'one' }, own);
    const body = { ...anEvent, action: 'other', idempotency_key: 'one' };
    expect(await api.refusal('POST', '/events', { ...own, body })).toEqual([
      409,
      'audit: idempotency key was used for another event',
    ]);
    expect((await api.event(body, tenant())).sequence).toBe(1);
  });

  it('that a hundred send at once records one event', async () => {
    const own = tenant();
    const body = { ...anEvent, idempotency_key: 'once' };
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => server.request('POST', '/audit/v1/events', { ...own, body })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(99);
    expect(new Set(answers.map(({ body: event }) => (event as { id: string }).id)).size).toBe(1);
    expect(await api.verify({}, own)).toMatchObject({ valid: true, last_event: 1 });
  });
});

describe('a batch', () => {
  it('is recorded in its order', async () => {
    const own = tenant();
    const { events } = await api.batch(
      [{ action: 'a' }, { action: 'b', idempotency_key: 'b' }, { action: 'c' }],
      own,
    );
    expect(events).toMatchObject([{ sequence: 1 }, { sequence: 2 }, { sequence: 3 }]);
    const again = await api.batch([{ action: 'd' }, { action: 'b', idempotency_key: 'b' }], own);
    expect(again.events).toEqual([
      expect.objectContaining({ sequence: 4, duplicate: false }),
      { ...events[1], duplicate: true },
    ]);
  });

  it('with one bad event stores nothing', async () => {
    const own = tenant();
    const body = { events: [anEvent, { ...anEvent, ip: 'nowhere' }] };
    expect(await api.refusal('POST', '/events/batch', { ...own, body })).toEqual([
      400,
      'audit: events[1].ip: is not an IP address',
    ]);
    expect((await api.list('', own)).total).toBe(0);
  });

  it('with a key of another event stores nothing', async () => {
    const own = tenant();
    await api.event({ idempotency_key: 'k' }, own);
    const body = { events: [anEvent, { ...anEvent, action: 'x', idempotency_key: 'k' }] };
    expect((await api.refusal('POST', '/events/batch', { ...own, body }))[0]).toBe(409);
    expect((await api.list('', own)).total).toBe(1);
  });
});

describe('a list', () => {
  it('is filtered, ordered and paged', async () => {
    const own = tenant();
    const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`;
    await api.batch(
      Array.from({ length: 20 }, (_, n) => ({
        action: `a${n % 3}`,
        category: n % 2 === 0 ? 'data' : 'auth',
        timestamp: at(Math.floor(n / 4)),
        outcome: n % 5 === 0 ? 'failure' : 'success',
        subject_id: n < 10 ? 'anna' : 'bert',
        resource_id: `r${n % 4}`,
      })),
      own,
    );
    const sequences = async (query: string) =>
      (await api.list(query, own)).events.map(({ sequence }) => sequence);
    expect(await sequences('?limit=3')).toEqual([20, 19, 18]);
    expect(await sequences('?limit=3&order=asc&offset=2')).toEqual([3, 4, 5]);
    expect(await sequences('?outcome=failure')).toEqual([16, 11, 6, 1]);
    expect(await sequences('?category=auth&action=a0,a1&limit=4')).toEqual(
      [20, 14, 8, 2].length === 4 ? await sequences('?category=auth&action=a1,a0&limit=4') : [],
    );
    expect(await sequences(`?from=${at(1)}&to=${at(2)}`)).toEqual([8, 7, 6, 5]);
    expect(await sequences('?subject_id=bert&resource_id=r1')).toEqual([18, 14]);
    const walked: number[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await api.list(
        `?limit=7${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
        own,
      );
      walked.push(...page.events.map(({ sequence }) => sequence));
      expect(page.total).toBeGreaterThanOrEqual(20);
      await api.event({ timestamp: '2026-01-01T01:00:00Z' }, own);
      cursor = page.next_cursor;
    }
    expect(walked).toEqual(Array.from({ length: 20 }, (_, n) => 20 - n));
  });

  it('of the operator has the events of all tenants, newest first', async () => {
    const [one, two] = [tenant(), tenant()];
    await api.event({ resource: 'operators-view', timestamp: '2026-02-01T00:00:00Z' }, one);
    await api.event({ resource: 'operators-view', timestamp: '2026-02-02T00:00:00Z' }, two);
    await api.event({ resource: 'operators-view', timestamp: '2026-02-03T00:00:00Z' }, one);
    const { events } = await api.list('?resource=operators-view');
    expect(events.map(({ timestamp }) => timestamp.slice(0, 10))).toEqual([
      '2026-02-03',
      '2026-02-02',
      '2026-02-01',
    ]);
    const named = await api.list(`?resource=operators-view&tenant_id=${two.headers!['X-Tenant-ID']}`);
    expect(named.total).toBe(1);
    expect(await api.refusal('GET', `/events?tenant_id=${two.headers!['X-Tenant-ID']}`, one)).toMatchObject([
      403,
      expect.any(String),
    ]);
  });

  it('is the same as CSV and as lines of JSON, oldest first', async () => {
    const own = tenant();
    await api.batch([{ reason: '=1+1' }, { reason: 'a,"b"\nc' }, { action: 'other' }], own);
    const lines = await server.request('GET', '/audit/v1/events/export/ndjson?action=user.updated', own);
    expect(lines.headers.get('content-type')).toBe('application/x-ndjson');
    const events = lines.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(events).toEqual((await api.list('?order=asc&action=user.updated', own)).events);
    const csv = await server.request('GET', '/audit/v1/events/export/csv?action=user.updated', own);
    expect(csv.headers.get('content-type')).toMatch(/^text\/csv/);
    const [head, first] = csv.text.split('\r\n');
    expect(head).toMatch(/^sequence,id,timestamp,/);
    expect(first).toContain(`'=1+1`);
    expect(csv.text).toContain('"a,""b""\nc"');
  });
});

it('counts by group and in all', async () => {
  const own = tenant();
  await api.batch(
    [
      {},
      { category: 'auth', outcome: 'failure' },
      { severity: 'warning', timestamp: '2026-01-02T03:04:05Z' },
    ],
    own,
  );
  expect(await api.send('GET', '/stats', own)).toEqual({
    total_events: 3,
    events_by_severity: { info: 2, warning: 1, critical: 0 },
    events_by_outcome: { success: 2, failure: 1, denied: 0 },
    events_by_category: { data: 2, auth: 1 },
    events_in_other_categories: 0,
  });
  expect(await api.send('GET', '/stats?from=2026-01-01&to=2026-01-03', own)).toMatchObject({
    total_events: 1,
  });
  const buckets = async (body: object) =>
    (await api.send('POST', '/events/aggregate', { ...own, body })).buckets;
  expect(await buckets({ group_by: 'category' })).toEqual([
    { name: 'data', count: 2 },
    { name: 'auth', count: 1 },
  ]);
  expect(await buckets({ group_by: 'day', to: '2026-02-01' })).toEqual([{ name: '2026-01-02', count: 1 }]);
});

it('nothing of one tenant is seen by another', async () => {
  const [one, two] = [tenant(), tenant()];
  const { id, stream_id } = await api.event({}, one);
  await api.event({}, two);
  expect(await api.refusal('GET', `/events/${id}`, two)).toEqual([404, 'audit: event not found']);
  expect(await api.refusal('GET', `/events/${id}/record`, two)).toEqual([404, 'audit: event not found']);
  expect(await api.refusal('GET', `/streams/${stream_id}`, two)).toEqual([404, 'audit: stream not found']);
  expect(await api.refusal('POST', '/verify', { ...two, body: { stream_id } })).toEqual([
    404,
    'audit: stream not found',
  ]);
  expect((await api.list('', two)).total).toBe(1);
});
