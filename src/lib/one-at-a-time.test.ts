import { expect, it } from 'vitest';
import { oneAtATime } from './one-at-a-time.ts';

/** Runs that end when the test says so. */
function setUp() {
  const runs: PromiseWithResolvers<void>[] = [];
  const work = oneAtATime(() => {
    const run = Promise.withResolvers<void>();
    runs.push(run);
    return run.promise;
  });
  return { work, runs };
}

it('a call begins at once; calls during a run share one more run', async () => {
  const { work, runs } = setUp();
  const first = work.run();
  expect(runs).toHaveLength(1);
  const [second, third] = [work.run(), work.run()];
  expect(runs).toHaveLength(1);
  runs[0]!.resolve();
  await first;
  await expect.poll(() => runs.length).toBe(2);
  runs[1]!.resolve();
  await Promise.all([second, third]);
  await work.settled();
  expect(runs).toHaveLength(2);
});

it('a run that fails is told to its callers only', async () => {
  const { work, runs } = setUp();
  const [first, second] = [work.run(), work.run()];
  runs[0]!.reject(new Error('away'));
  await expect(first).rejects.toThrow('away');
  await expect.poll(() => runs.length).toBe(2);
  runs[1]!.resolve();
  await second;
});

it('a call between two runs causes no second run beside the next one', async () => {
  const { work, runs } = setUp();
  const first = work.run();
  const again = first.then(() => work.run());
  const second = work.run();
  runs[0]!.resolve();
  await expect.poll(() => runs.length).toBe(2);
  runs[1]!.resolve();
  await second;
  await expect.poll(() => runs.length).toBeLessThanOrEqual(3);
  for (const run of runs) run.resolve();
  await again;
  await work.settled();
});
