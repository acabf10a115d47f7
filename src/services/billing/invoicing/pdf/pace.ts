import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds of work after which other work has its turn. */
const sliceMs = 8;

/** Called between steps of long work: waits for the next turn of the event loop when the current one has taken long enough. */
export type Pause = () => Promise<void> | undefined;

export function createPause(): Pause {
  let began = performance.now();
  return () => (performance.now() - began < sliceMs ? undefined : pause());

  async function pause(): Promise<void> {
    await nextTurn();
    began = performance.now();
  }
}
