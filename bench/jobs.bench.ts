/** The hot paths of the background jobs against their baselines. */
import { burnDown } from './jobs/burn-down.ts';
import { latency } from './jobs/latency.ts';
import type { Measurements } from './row.ts';

export default { burnDown, latency } satisfies Measurements;
