import { setTimeout as delay } from 'node:timers/promises';

/**
 * Periodic work that the engine of the background jobs runs in one of the processes: it ends what has expired and deletes what is no
 * longer needed.
 */
export interface Sweep {
  /** Unique among all sweeps: `<service>.<what>`. */
  readonly name: string;
  /** Milliseconds from the end of a successful run to the start of the next one, across all processes. */
  readonly everyMs: number;
  /** What the operator should know about the sweep; it is logged at startup. */
  readonly notice?: string;
  /** The most rows that one call of a step processes. A step whose work needs no bound gets it as well. */
  readonly batch: number;
  /**
   * Each step processes up to `batch` rows and returns how many it processed; after a full batch it is called again. A run may be
   * interrupted between two calls, and repeated.
   */
  readonly steps: readonly ((batch: number, signal?: AbortSignal) => Promise<number>)[];
}

/** Runs a sweep once, until nothing is left to do or `signal` asks it to end. */
export async function runSweep(
  { batch, steps }: Pick<Sweep, 'batch' | 'steps'>,
  signal?: AbortSignal,
): Promise<void> {
  for (const step of steps) while (!signal?.aborted && (await step(batch, signal)) >= batch);
}

/** Milliseconds after which such a run ends, and any process may begin the next one. */
const stayMs = 60_000;

/**
 * Builds a step for work that is due every second or so. The step repeats the work for a minute, so that a run that finds nothing
 * costs only the work itself, and not also the start and the end of a run.
 */
export const staying =
  (everyMs: number, work: (signal: AbortSignal) => Promise<void>): Sweep['steps'][number] =>
  async (_, signal = never) => {
    const until = performance.now() + stayMs;
    do {
      await work(signal);
      await delay(everyMs, undefined, { signal, ref: false }).catch(() => {});
    } while (!signal.aborted && performance.now() < until);
    return 0;
  };

const never = new AbortController().signal;
