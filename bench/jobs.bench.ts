/** The hot paths of the background jobs against their baselines. */
import { backlog } from './jobs/backlog.ts';
import { burnDown, settleEach } from './jobs/burn-down.ts';
import { enqueue } from './jobs/enqueue.ts';
import { idle } from './jobs/idle.ts';
import { latency } from './jobs/latency.ts';
import { leases } from './jobs/leases.ts';
import { neighbour } from './jobs/neighbour.ts';
import { step } from './jobs/step.ts';
import type { Measurements } from './row.ts';

export default {
  burnDown,
  settleEach,
  enqueue,
  latency,
  backlog,
  neighbour,
  leases,
  step,
  idle,
} satisfies Measurements;
