/** Tests what the bounds of a period mean that are finer than events, and those that are the wrong way round. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Report } from '../../../../generated/audit/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { inTenant, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
const own = inTenant('bounds');
const at = (ms: string) => `2026-01-01T00:00:00.${ms}Z`;
beforeAll(async () => {
  server = await testServer({ services: ['audit', 'keys'], env: { PLINTH_JOBS_ENGINE: 'off' } });
  api = tools(server);
  await api.batch(
    ['001', '002', '002', '003'].map((ms) => ({ timestamp: at(ms) })),
    own,
  );
});
afterAll(() => server.close());

it('a walk that begins a nanosecond after the last event it saw ends, and sees every moment once', async () => {
  const seen: string[] = [];
  for (let from = at('000'); seen.length < 10;) {
    const { events } = await api.list(`?order=asc&from=${from}`, own);
    if (events.length === 0) break;
    const { timestamp } = events[0]!;
    seen.push(...events.filter((event) => event.timestamp === timestamp).map((event) => event.timestamp));
    from = timestamp.replace('Z', '000001Z');
  }
  expect(seen).toEqual(['001', '002', '002', '003'].map(at));
});

it('two periods that meet within a millisecond have each event once', async () => {
  const middle = '2026-01-01T00:00:00.0020005Z';
  const totals = await Promise.all([
    api.list(`?to=${middle}`, own).then(({ total }) => total),
    api.list(`?from=${middle}`, own).then(({ total }) => total),
    api.send('GET', `/stats?to=${middle}`, own).then(({ total_events }) => total_events as number),
    api
      .send('POST', '/events/aggregate', { ...own, body: { group_by: 'day', from: middle } })
      .then(({ buckets }) => (buckets as { count: number }[])[0]!.count),
  ]);
  expect(totals).toEqual([3, 1, 3, 1]);
  const body = { title: 'T', period: { from: '2026-01-01', to: middle } };
  const report = (await api.send('POST', '/reports/custom', { ...own, body })) as Report;
  expect([report.stats.total_events, report.period.to]).toEqual([3, at('003')]);
});

it('a period that ends before it begins is refused wherever one is asked for', async () => {
  const query = 'from=2026-02-01&to=2026-01-01';
  const refused = [400, 'audit: from: must not be after to'];
  const paths = ['/events', '/events/user/anna', '/events/export/csv', '/events/export/ndjson', '/stats'];
  for (const path of paths)
    expect([path, await api.refusal('GET', `${path}?${query}`, own)]).toEqual([path, refused]);
  const body = { group_by: 'day', from: '2026-02-01', to: '2026-01-01' };
  expect(await api.refusal('POST', '/events/aggregate', { ...own, body })).toEqual(refused);
  // A period that is empty is none that is wrong.
  expect((await api.list('?from=2026-01-01&to=2026-01-01', own)).total).toBe(0);
});
