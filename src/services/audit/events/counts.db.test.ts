/** Tests that statistics, aggregates and totals equal a count of all events in the plainest way, whatever has happened to them. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AuditEvent } from '../../../../generated/audit/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { day, inTenant, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  // The sweep that enforces policies would come before the test.
  server = await testServer({ services: ['audit', 'keys'], env: { PLINTH_JOBS_ENGINE: 'off' } });
  api = tools(server);
});
afterAll(() => server.close());

const own = inTenant('counts');
const groups = ['category', 'action', 'outcome', 'severity', 'resource', 'day'] as const;

function countsBy(events: readonly AuditEvent[], by: (typeof groups)[number]) {
  const counts = new Map<string, number>();
  for (const event of events) {
    const name = by === 'day' ? event.timestamp.slice(0, 10) : event[by];
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts]
    .map(([name, count]) => ({ name, count }))
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
}

async function everything(query: string): Promise<AuditEvent[]> {
  const page = await api.list(`?limit=1000${query}`, own);
  expect([page.total, page.next_cursor]).toEqual([page.events.length, null]);
  return page.events;
}

/** Compares all numbers with those of the events themselves. */
async function compare(range: { from?: string; to?: string }): Promise<void> {
  const query = new URLSearchParams(range).toString();
  const events = await everything(query === '' ? '' : `&${query}`);
  const counts = (by: (typeof groups)[number]) =>
    Object.fromEntries(countsBy(events, by).map(({ name, count }) => [name, count]));
  expect(await api.send('GET', `/stats?${query}`, own)).toEqual({
    total_events: events.length,
    events_by_severity: { info: 0, warning: 0, critical: 0, ...counts('severity') },
    events_by_outcome: { success: 0, failure: 0, denied: 0, ...counts('outcome') },
    events_by_category: counts('category'),
    events_in_other_categories: 0,
  });
  for (const group_by of groups) {
    const found = await api.send('POST', '/events/aggregate', { ...own, body: { group_by, ...range } });
    expect([group_by, found]).toEqual([group_by, { buckets: countsBy(events, group_by), other: 0 }]);
  }
}

const event = fc.record({
  timestamp: fc.integer({ min: 0, max: 60 }).map((ago) => day(ago, '00:00:00.000')),
  category: fc.constantFrom('auth', 'data', 'Data', 'x'),
  action: fc.constantFrom('a', 'a.b', 'B', 'sign in'),
  resource: fc.constantFrom('r', 'R', 's'),
  outcome: fc.constantFrom('success', 'failure', 'denied'),
  severity: fc.constantFrom('info', 'warning', 'critical'),
  user_id: fc.constantFrom('anna', 'bert', null),
});

it('after events, erasures and purges', { timeout: 60_000 }, async () => {
  await api.send('POST', '/retention', { ...own, body: { category: 'auth', duration: '720h' } });
  const steps = fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.array(event, { minLength: 1, maxLength: 30 }) },
      fc.constantFrom('erase' as const, 'purge' as const),
    ),
    { minLength: 3, maxLength: 6 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      for (const step of all) {
        if (step === 'erase')
          await api.send('POST', '/erasures', {
            ...own,
            body: { subject_id: 'anna', reason: 'r', requested_by: 'd' },
          });
        else if (step === 'purge') await api.send('POST', '/retention/enforce', own);
        else await api.batch(step, own);
      }
      await compare({});
      await compare({ from: day(45), to: day(20).slice(0, 10) });
    }),
    { numRuns: 5 },
  );
  expect(await api.verify({}, own)).toMatchObject({ valid: true });
});

it('of one category, and of the categories that are asked for', async () => {
  const body = { group_by: 'action', categories: ['data', 'x'] };
  const { buckets } = await api.send('POST', '/events/aggregate', { ...own, body });
  expect(buckets).toEqual(countsBy(await everything('&category=data,x'), 'action'));
});

it('beyond the groups that are named are told', async () => {
  const many = inTenant('many-groups');
  for (const names of [500, 501].map((count, at) => Array.from({ length: count }, (_, n) => `a${at}.${n}`)))
    await api.batch(
      names.map((action) => ({ action, category: action.slice(0, 6) })),
      many,
    );
  await api.batch([{ action: 'a0.0', category: 'a0.0' }], many);
  const groups = await api.send('POST', '/events/aggregate', { ...many, body: { group_by: 'action' } });
  expect([groups.buckets.length, groups.buckets[0], groups.other]).toEqual([
    1_000,
    { name: 'a0.0', count: 2 },
    1,
  ]);
  const stats = await api.send('GET', '/stats', many);
  const named = Object.values(stats.events_by_category as Record<string, number>);
  expect([named.length, stats.total_events]).toEqual([100, 1_002]);
  expect(named.reduce((sum, count) => sum + count, 0) + stats.events_in_other_categories).toBe(1_002);
});

it.each([
  [{}, 'group_by: required'],
  [{ group_by: 'user' }, 'group_by: must be category, action, outcome, severity, resource or day'],
  [{ group_by: 'day', from: '2026-02-30' }, 'from: must be a time such as 2026-11-20T09:30:00Z'],
])('%j is refused', async (body, message) =>
  expect(await api.refusal('POST', '/events/aggregate', { ...own, body })).toEqual([
    400,
    `audit: ${message}`,
  ]),
);
