import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ScanResult } from '../../../../generated/safety/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { tools } from '../testing.ts';
import { firstIdAt, hourMs, hourOf } from './periods.ts';
import { scanStore } from './scans.store.ts';
import { statsStore } from './stats.store.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ services: ['safety'] });
});
afterAll(() => server.close());

const decisions = ['allow', 'flag', 'redact', 'block'] as const;
const directions = ['input', 'output'] as const;
const dayMs = 24 * hourMs;

/** Numbers that are the same in every run and look random. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) % below;
}

it('statistics are what counting the scans says, before they are purged and after', async () => {
  const { sql } = server.db;
  const random = numbers(7);
  const now = Date.now();
  // Half of them are older than scans are kept.
  const scans = Array.from({ length: 200 }, (_, at) => ({
    ms: now - 30 * dayMs - 12 * hourMs + random(24 * hourMs),
    direction: directions[random(2)]!,
    decision: decisions[random(4)]!,
    at,
  }));
  const idOf = ({ ms, at }: { ms: number; at: number }) =>
    firstIdAt(ms).slice(0, -4) + String(at).padStart(4, '0');
  await scanStore(sql).insert(
    scans.map((scan) => ({
      userId: '',
      result: {
        ...{ tenant_id: 'old', id: idOf(scan), profile_used: 'default', redacted: '' },
        ...{ direction: scan.direction, decision: scan.decision },
      } as ScanResult,
    })),
  );
  for (const slot of [3, 4])
    for (const { ms, direction, decision } of scans.filter(({ at }) => at % 2 === slot - 3))
      await statsStore(sql).add(
        [{ tenant_id: 'old', hour: new Date(hourOf(ms)).toISOString(), direction, decision, n: 1 }],
        slot,
      );

  const check = async (from: number, to: number) => {
    const query = `from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`;
    const stats = await tools(server).send('GET', `/scans/stats?${query}`, { tenant: 'old' });
    const keptSince = Date.now() - 30 * dayMs;
    // In time that is purged, only whole hours can be counted.
    const first = hourOf(from) < keptSince ? hourOf(from) : from;
    const end = hourOf(to) < keptSince && to !== hourOf(to) ? hourOf(to) + hourMs : to;
    const inside = scans.filter(({ ms }) => ms >= first && ms < end);
    const count = (of: (scan: (typeof scans)[number]) => boolean) => inside.filter(of).length;
    expect(stats.total_scans, query).toBe(inside.length);
    for (const one of decisions)
      expect(stats.by_decision[one]).toBe(count(({ decision }) => decision === one));
    for (const one of directions)
      expect(stats.by_direction[one]).toBe(count(({ direction }) => direction === one));
  };
  const ranges = Array.from({ length: 12 }, () => {
    const ends = [random(26 * hourMs), random(26 * hourMs)].map((ms) => now - 30 * dayMs - 13 * hourMs + ms);
    return ends.sort((one, other) => one - other) as [number, number];
  });
  for (const range of ranges) await check(...range);
  const left = async () => {
    const [row] = await sql<[{ n: number }]>`select count(*) as n from safety.scan where tenant_id = 'old'`;
    return Number(row.n);
  };
  const kept = scans.filter(({ ms }) => ms >= now - 30 * dayMs).length;
  expect(kept).toBeGreaterThan(0);
  await scanStore(sql).drop(firstIdAt(now - 30 * dayMs), 5_000);
  expect(await left()).toBeLessThanOrEqual(kept);
  expect(await left()).toBeGreaterThan(0);
  while ((await statsStore(sql).merge(new Date(now - dayMs).toISOString(), 100)) > 0);
  for (const range of ranges) await check(...range);
}, 120_000);
