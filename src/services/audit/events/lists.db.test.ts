/** Tests the order of lists, their filters, their pages, and that a walk by cursor misses nothing while events are recorded. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../../../generated/audit/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { inTenant, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
const own = inTenant('lists');
let all: AuditEvent[];
beforeAll(async () => {
  server = await testServer({ services: ['audit', 'keys'] });
  api = tools(server);
  const second = (at: number) => `2026-01-01T00:00:${String(at).padStart(2, '0')}.000Z`;
  await api.batch(
    Array.from({ length: 60 }, (_, n) => ({
      ...{ action: `a${n % 3}`, resource: `k${n % 2}`, category: n % 2 === 0 ? 'data' : 'auth' },
      // Many events of one moment, recorded in another order.
      timestamp: second((n * 7) % 5),
      outcome: ['success', 'failure', 'denied'][n % 4 === 0 ? n % 3 : 0],
      severity: ['info', 'warning', 'critical'][n % 5 === 0 ? n % 3 : 0],
      ...{ user_id: `usr_${n % 4}`, subject_id: n % 6 === 0 ? 'anna' : null, resource_id: `r${n % 7}` },
    })),
    own,
  );
  all = (await api.list('?limit=1000&order=asc', own)).events;
});
afterAll(() => server.close());

const byTime = (a: AuditEvent, b: AuditEvent) =>
  a.timestamp === b.timestamp ? a.sequence - b.sequence : a.timestamp < b.timestamp ? -1 : 1;

describe('a list', () => {
  it('is ordered by time and then by number, in both directions', async () => {
    expect(all).toHaveLength(60);
    expect(all).toEqual([...all].sort(byTime));
    expect((await api.list('?limit=1000', own)).events).toEqual([...all].reverse());
  });

  it.each<[query: string, belongs: (event: AuditEvent) => boolean]>([
    ['category=auth', ({ category }) => category === 'auth'],
    ['category=auth,data', () => true],
    ['action=a1,a2', ({ action }) => action !== 'a0'],
    ['severity=warning,critical', ({ severity }) => severity !== 'info'],
    ['outcome=denied', ({ outcome }) => outcome === 'denied'],
    [
      'outcome=success,denied&severity=info',
      ({ outcome, severity }) => outcome !== 'failure' && severity === 'info',
    ],
    ['resource=k1', ({ resource }) => resource === 'k1'],
    ['resource_id=r3', ({ resource_id }) => resource_id === 'r3'],
    ['user_id=usr_2', ({ user_id }) => user_id === 'usr_2'],
    ['subject_id=anna', ({ subject_id }) => subject_id === 'anna'],
    // Without a subject, an event concerns its actor.
    ['subject_id=usr_2', ({ user_id, subject_id }) => subject_id === null && user_id === 'usr_2'],
    [
      'user_id=usr_0&resource_id=r0&category=data',
      ({ user_id, resource_id }) => user_id === 'usr_0' && resource_id === 'r0',
    ],
    ['from=2026-01-01T00:00:01Z', ({ timestamp }) => timestamp >= '2026-01-01T00:00:01.000Z'],
    ['from=2026-01-01T00:00:01Z&to=2026-01-01T00:00:03Z', ({ timestamp }) => /0[12]\.000Z$/.test(timestamp)],
    [
      'from=2026-01-01T01:00:01%2B01:00&to=2026-01-02',
      ({ timestamp }) => timestamp >= '2026-01-01T00:00:01.000Z',
    ],
    ['to=2026-01-01', () => false],
    ['user_id=nobody', () => false],
  ])('of %s has exactly what matches', async (query, belongs) => {
    const page = await api.list(`?limit=1000&order=asc&${query}`, own);
    expect(page.events).toEqual(all.filter(belongs));
    expect([page.total, page.next_cursor]).toEqual([all.filter(belongs).length, null]);
  });

  it.each([
    ['limit=0', 'limit: must be at least 1'],
    ['limit=1001', 'limit: must be at most 1000'],
    ['offset=100001', 'offset: must be at most 100000'],
    ['severity=fatal', 'severity: must match ^(info|warning|critical)(,(info|warning|critical)){0,19}$'],
    [
      'category=',
      'category: must match ^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,63}(,[A-Za-z0-9][A-Za-z0-9_.:/-]{0,63}){0,19}$',
    ],
    ['from=2026-13-01', 'from: must be a time such as 2026-11-20T09:30:00Z'],
    ['nonsense=1', 'nonsense: unknown'],
    ['cursor=abc', 'cursor: must be one that this list gave'],
  ])('of %s is refused', async (query, message) =>
    expect(await api.refusal('GET', `/events?${query}`, own)).toEqual([400, `audit: ${message}`]),
  );

  it('goes on by cursor from page to page, and by offset', async () => {
    const walked: AuditEvent[] = [];
    for (let query = ''; ;) {
      const { events, next_cursor } = await api.list(`?limit=7&order=asc${query}`, own);
      walked.push(...events);
      if (next_cursor === null) break;
      query = `&cursor=${next_cursor}`;
    }
    expect(walked).toEqual(all);
    expect((await api.list('?limit=7&order=asc&offset=14', own)).events).toEqual(all.slice(14, 21));
    const { next_cursor } = await api.list('?limit=7', own);
    for (const query of ['category=auth', 'order=asc', 'from=2026-01-01'])
      expect((await api.refusal('GET', `/events?limit=7&${query}&cursor=${next_cursor}`, own))[0]).toBe(400);
    expect((await api.refusal('GET', `/events?cursor=${next_cursor}&offset=1`, own))[0]).toBe(400);
  });

  it('misses nothing of what was there, while events of the same times are recorded', async () => {
    const busy = inTenant('busy');
    const timestamp = '2026-01-01T00:00:00.000Z';
    const batch = (count: number) =>
      api.batch(
        Array.from({ length: count }, (_, at) => ({ timestamp, metadata: { at } })),
        busy,
      );
    await batch(100);
    for (const order of ['asc', 'desc']) {
      const before = new Set((await api.list('?limit=1000', busy)).events.map(({ id }) => id));
      for (let query = ''; ;) {
        const [{ events, next_cursor }] = await Promise.all([
          api.list(`?limit=30&order=${order}${query}`, busy),
          batch(order === 'asc' ? 1 : 5),
        ]);
        for (const { id } of events) before.delete(id);
        if (next_cursor === null) break;
        query = `&cursor=${next_cursor}`;
      }
      expect([...before]).toEqual([]);
    }
  });
});

describe('the events of a user', () => {
  it.each(['a/b', '100%', '%2F', 'ünï cødé 😀', 'x'.repeat(255), 'user', 'aggregate', '..', '?a=b#c'])(
    'are found under the id %s',
    async (user_id) => {
      const tenant = inTenant('users');
      const event = await api.event({ user_id }, tenant);
      const path = `/events/user/${user_id === '..' ? '%2E%2E' : encodeURIComponent(user_id)}`;
      if (user_id === '..')
        return void expect((await api.list('?user_id=..', tenant)).events).toEqual([event]);
      expect((await api.send('GET', path, tenant)).events).toEqual([event]);
      expect((await api.list(`?user_id=${encodeURIComponent(user_id)}`, tenant)).events).toEqual([event]);
    },
  );

  it('are newest first, within a period', async () => {
    const page = await api.send('GET', '/events/user/usr_1?limit=1000&from=2026-01-01T00:00:02Z', own);
    const expected = all.filter(
      ({ user_id, timestamp }) => user_id === 'usr_1' && timestamp >= '2026-01-01T00:00:02',
    );
    expect(page.events).toEqual(expected.reverse());
  });
});

it('a path of its own is never taken for an id', async () => {
  expect((await api.refusal('GET', '/events/aggregate', own))[0]).not.toBe(200);
  expect(await api.refusal('GET', '/events/audit_01kfd8cst0f4ebfc0tywvtbr3d', own)).toEqual([
    404,
    'audit: event not found',
  ]);
  expect((await api.refusal('GET', '/events/nonsense', own))[0]).toBe(400);
});
