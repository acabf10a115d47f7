/**
 * Processor time in tests of work that must not block the process. Only the time of this thread counts, since tests run beside
 * others; and a bound is given for a machine like that of `bench/RESULTS.md`, so that a slower one is allowed as much more.
 */
import { setTimeout as delay } from 'node:timers/promises';

/** Runs `run`, and returns what it returned with the milliseconds of processor time that it took on this thread. */
export function timeOf<Result>(run: () => Result): { result: Result; took: number } {
  const began = process.threadCpuUsage();
  const result = run();
  const { user, system } = process.threadCpuUsage(began);
  return { result, took: (user + system) / 1_000 };
}

/** The shortest time of three runs, in milliseconds of processor time: the others may have met cold code or a busy machine. */
export const bestTimeOf = (run: () => unknown): number =>
  Math.min(timeOf(run).took, timeOf(run).took, timeOf(run).took);

/** Milliseconds of the reference work on the machine of the published figures. */
const referenceMs = 15;

/** Work of the kind that services do: strings, a map larger than the processor's caches, numbers. */
function reference(): number {
  const seen = new Map<string, number>();
  for (let n = 0; n < 100_000; n++) seen.set(`user:${(n * 7_919) % 50_021}`, n);
  let sum = 0;
  for (let n = 0; n < 100_000; n++) sum += seen.get(`user:${n % 50_021}`) ?? 0;
  return sum;
}

let slowness = 1;

/**
 * As many milliseconds on this machine as `milliseconds` are on that of the published figures, and never fewer. The machine is measured
 * again each time, because what runs beside a test can slow it down at any moment.
 */
export function onThisMachine(milliseconds: number): number {
  slowness = Math.max(slowness, bestTimeOf(reference) / referenceMs);
  return milliseconds * slowness;
}

/** The most runs of work that is measured, and the milliseconds by which each pause before the next one is longer. */
const [mostRuns, longerPauseMs] = [8, 100];

/**
 * The longest turn of work, as `longestTurnOf` measures it, in the best of several runs. The first ones meet cold code, and when the
 * machine is busy a turn can take several times its usual processor time; so the work is repeated, at growing distances, until a run
 * is within `bound`. `prepare` comes before each run and is not measured.
 */
export async function leastTurnOf(
  work: (run: number) => Promise<unknown>,
  bound: () => number,
  prepare?: () => Promise<unknown>,
): Promise<number> {
  let least = Infinity;
  for (let run = 0; run < mostRuns && least >= bound(); run++) {
    await delay(run * longerPauseMs);
    await prepare?.();
    least = Math.min(least, await longestTurnOf(() => work(run)));
  }
  return least;
}

/**
 * The most milliseconds of processor time that one turn of the event loop took while `work` lasted, which is for how long
 * everybody else in this process waited. A turn may have served several, so no pause was longer than this.
 */
export async function longestTurnOf(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let watching = true;
  let before = process.threadCpuUsage();
  const look = () => {
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, (user + system) / 1_000);
    before = process.threadCpuUsage();
    if (watching) setImmediate(look);
  };
  setImmediate(look);
  await work().finally(() => (watching = false));
  look();
  return longest;
}
