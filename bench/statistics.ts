import { scale } from './scale.ts';

export interface Paired {
  /** The median of a / b over all pairs. */
  ratio: number;
  a: number;
  b: number;
}

/**
 * Runs two measurements alternately, A B A B …, after a warm-up of each, and returns the median of the pairs' ratios: the speed
 * of a shared machine drifts, but its ratios drift much less.
 */
export async function paired(
  a: () => Promise<number>,
  b: () => Promise<number>,
  rounds = 5,
): Promise<Paired> {
  await a();
  await b();
  const pairs: { a: number; b: number }[] = [];
  for (let round = 0; round < (scale < 1 ? 1 : rounds); round++) pairs.push({ a: await a(), b: await b() });
  return {
    ratio: median(pairs.map((pair) => pair.a / pair.b)),
    a: median(pairs.map((pair) => pair.a)),
    b: median(pairs.map((pair) => pair.b)),
  };
}

/** Returns the value below which this share of the values lies, or NaN for no values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Returns the milliseconds of each call, one after the other. The first tenth is a warm-up and does not count. */
export async function latencies(calls: number, call: (turn: number) => unknown): Promise<number[]> {
  const warm = Math.ceil(calls / 10);
  const times: number[] = [];
  for (let turn = 0; turn < calls + warm; turn++) {
    const started = performance.now();
    await call(turn);
    if (turn >= warm) times.push(performance.now() - started);
  }
  return times;
}

/** Returns the milliseconds of one call. */
export async function timed(call: () => unknown): Promise<number> {
  const started = performance.now();
  await call();
  return performance.now() - started;
}

/** Calls both again and again in turns, and returns the median milliseconds of each. */
export async function medianTimes(
  turns: number,
  one: (turn: number) => unknown,
  other: (turn: number) => unknown,
): Promise<[number, number]> {
  const [ofOne, ofOther]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < turns; turn++) {
    ofOne.push(await timed(() => one(turn)));
    ofOther.push(await timed(() => other(turn)));
  }
  return [median(ofOne), median(ofOther)];
}

/** Returns the mean milliseconds per call of many in a row, for calls that are too short to be timed one by one. */
export async function mean(calls: number, call: (turn: number) => unknown): Promise<number> {
  const started = performance.now();
  for (let turn = 0; turn < calls; turn++) await call(turn);
  return (performance.now() - started) / calls;
}
