import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
/** Collects everything that nobody needs, so that the collector does not begin with it in the middle of a measurement. */
export const collect = runInNewContext('gc') as () => void;

/** The bytes that are in use once all that nobody needs is collected. */
function bytesInUse(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Milliseconds between two looks: each takes long when much is in use that has nothing to do with the work. */
const pauseMs = 200;

/** How many bytes more than before were in use while `work` lasted, at the most. */
export async function heapDuring(work: () => Promise<unknown>): Promise<number> {
  const before = bytesInUse();
  let most = before;
  let lasts = true;
  const done = work().finally(() => (lasts = false));
  while (lasts) {
    most = Math.max(most, bytesInUse());
    await delay(pauseMs);
  }
  await done;
  return most - before;
}
