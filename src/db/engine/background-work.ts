import { outsideRequests } from '../../lib/request-scope.ts';

/** Figures of one sweep, or of one kind of due rows, of this process, for the metrics. */
export interface WorkFigures {
  readonly name: string;
  readonly runs: number;
  readonly failures: number;
  /** The number of runs in progress. */
  readonly running: number;
  /** End of the last successful run, in milliseconds since the epoch; undefined before the first one. */
  readonly succeededAt: number | undefined;
}

interface Tally {
  runs: number;
  failures: number;
  running: number;
  succeededAt: number | undefined;
}

const tallies = new Map<string, Tally>();

/** Counts one run of background work and its outcome. */
export async function tallied<T>(name: string, run: () => Promise<T>): Promise<T> {
  const tally = tallies.get(name) ?? { runs: 0, failures: 0, running: 0, succeededAt: undefined };
  tallies.set(name, tally);
  tally.runs += 1;
  tally.running += 1;
  try {
    // Whoever set the work going does not wait for it.
    const result = await outsideRequests(run);
    tally.succeededAt = Date.now();
    return result;
  } catch (error) {
    tally.failures += 1;
    throw error;
  } finally {
    tally.running -= 1;
  }
}

/** The figures of all background work that has run in this process. */
export const backgroundWork = (): WorkFigures[] => [...tallies].map(([name, tally]) => ({ name, ...tally }));
