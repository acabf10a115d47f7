import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ClaimedJob } from './claim.store.ts';
import { WaitingJobs } from './waiting-jobs.ts';

const job = (id: string, tenant_id: string, rank = 0) =>
  ({ id, tenant_id, app_id: 'default', rank, lease_id: 'lease_a' }) as ClaimedJob;

function taken(waiting: WaitingJobs): string[] {
  const ids: string[] = [];
  while (waiting.size > 0) ids.push(waiting.take()!.id);
  return ids;
}

test('tenants take turns, each with its jobs in order', () => {
  const waiting = new WaitingJobs();
  waiting.add([job('a1', 'a'), job('a2', 'a'), job('a3', 'a')]);
  waiting.add([job('b1', 'b'), job('a4', 'a'), job('b2', 'b')]);
  expect([...waiting].map(({ id }) => id)).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'b2']);
  expect(taken(waiting)).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'a4']);
  expect(waiting.take()).toBeUndefined();
});

test('a more urgent job starts before all that were claimed earlier', () => {
  const waiting = new WaitingJobs();
  waiting.add([job('usual', 'a'), job('later', 'a', 5)]);
  waiting.add([job('urgent', 'b', -5)]);
  expect(taken(waiting)).toEqual(['urgent', 'usual', 'later']);
});

test('jobs that are removed do not start', () => {
  const waiting = new WaitingJobs();
  waiting.add([job('a1', 'a'), job('a2', 'a'), job('b1', 'b')]);
  expect(waiting.remove(({ id }) => id === 'a1').map(({ id }) => id)).toEqual(['a1']);
  expect(waiting.size).toBe(2);
  expect(taken(waiting)).toEqual(['a2', 'b1']);
});

test('whatever comes and goes, every job starts once, and those of a lane in order', () =>
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.tuple(fc.nat(3), fc.nat(2)), { maxLength: 8 }), { maxLength: 8 }),
      fc.array(fc.nat(5), { maxLength: 8 }),
      (claims, starts) => {
        const waiting = new WaitingJobs();
        const started: ClaimedJob[] = [];
        let made = 0;
        for (const [at, claim] of claims.entries()) {
          waiting.add(
            claim.map(([tenant, rank]) => job(String(made++).padStart(3, '0'), `t${tenant}`, rank)),
          );
          for (let left = starts[at] ?? 0; left > 0 && waiting.size > 0; left--)
            started.push(waiting.take()!);
        }
        while (waiting.size > 0) started.push(waiting.take()!);
        expect(new Set(started.map(({ id }) => id)).size).toBe(made);
        const lanes = Map.groupBy(started, ({ tenant_id, rank }) => `${tenant_id} ${rank}`);
        for (const lane of lanes.values()) {
          const ids = lane.map(({ id }) => id);
          expect(ids).toEqual(ids.toSorted());
        }
      },
    ),
  ));
