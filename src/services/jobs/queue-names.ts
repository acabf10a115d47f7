import { Forbidden, Invalid } from '../../lib/errors.ts';
import { isQueueOfRuns } from '../../db/engine/runs/limits.ts';

const platformPrefix = 'plinth.';

/** Checks that jobs may be put into a queue: those of the platform and of workflows are filled by the engine. @throws Invalid */
export function checkOpenQueue(queue: string, field: string): void {
  if (queue.startsWith(platformPrefix) || isQueueOfRuns(queue))
    throw Invalid(`${field}: ${queue} is reserved`);
}

/** Checks that workers outside of the platform may take the jobs of these queues. @throws Forbidden */
export function checkLeasable(queues: readonly string[]): void {
  const at = queues.findIndex((queue) => queue.startsWith(platformPrefix));
  if (at >= 0) throw Forbidden(`queues[${at}]: ${queues[at]} belongs to the platform`);
}
