import { boundedQueue, type Queue } from '../../lib/bounded-queue.ts';

/** Work that has to wait for one row of the database anyway. */
export interface Lines {
  /** Runs the work when that of the same subject which came before has ended. @throws RateLimited when too many wait */
  run<T>(subject: string, work: () => Promise<T>): Promise<T>;
}

/** The most pieces of work of one subject that may wait in this process. */
const mostWaiting = 1_000;

/**
 * Lets writes that lock the same row stand in line here, one at a time, and not on connections to the database, of which there are
 * few: a burst of them would keep everybody else from the database until they had waited too long.
 */
export function createLines(): Lines {
  const lines = new Map<string, Queue>();
  return {
    async run(subject, work) {
      let line = lines.get(subject);
      if (line === undefined) lines.set(subject, (line = boundedQueue(1, mostWaiting)));
      try {
        return await line.run(work);
      } finally {
        const { running, waiting } = line.load();
        if (running + waiting === 0) lines.delete(subject);
      }
    },
  };
}
