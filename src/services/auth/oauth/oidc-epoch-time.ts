import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../../../db/clock.ts';

/** The clock of the server that calls the library. */
const clocks = new AsyncLocalStorage<Clock>();

/** Runs `work`, during which the library uses this clock. */
export const byClock = <T>(clock: Clock, work: () => T): T => clocks.run(clock, work);

/** Replaces the library's module of the same name: seconds since 1970. */
export default function epochTime(ms = now()): number {
  return Math.floor(ms / 1_000);
}

function now(): number {
  const clock = clocks.getStore();
  if (!clock) throw new Error('the OAuth library was asked without a clock');
  return clock.now();
}
