import { isPassing } from '../../../db/engine/repetition.ts';
import type { Database, Log } from '../../../db/index.ts';
import { oneAtATime } from '../../../lib/one-at-a-time.ts';
import { laneStore } from './lanes.store.ts';

export interface PollsDeps {
  readonly db: Database;
  readonly log: Log;
  /** Milliseconds between two looks; an idle process looks up to four times less often. */
  readonly pollMs: number;
  /** Called with the endpoints that have deliveries due. */
  readonly onDue: (endpointIds: readonly string[]) => void;
}

/** Finds what no hint told of: retries, and deliveries of processes that ended. */
export interface Polls {
  start(): void;
  /** Something happens: the next looks come sooner. */
  stir(): void;
  /** Looks at once, because hints may have been missed. */
  run(): void;
  stop(): Promise<void>;
}

/** How many times longer than a look the pause after it is at least. */
const restPerLook = 10;

export function createPolls({ db, log, pollMs, onDue }: PollsDeps): Polls {
  let running = false;
  let pause = pollMs;
  let timer: NodeJS.Timeout | undefined;

  const looks = oneAtATime(async () => {
    const began = performance.now();
    let rest = pause;
    pause = Math.min(pause * 2, pollMs * 4);
    try {
      const { due, waitMs } = await laneStore(db.background).due();
      if (running) onDue(due);
      rest = Math.min(rest, waitMs ?? rest);
    } catch (error) {
      if (!isPassing(error)) log.error({ err: error }, 'due deliveries could not be looked for');
    }
    clearTimeout(timer);
    rest = Math.max(rest, (performance.now() - began) * restPerLook);
    if (running) timer = setTimeout(() => void looks.run(), Math.ceil(rest)).unref();
  });

  return {
    start() {
      running = true;
      void looks.run();
    },
    stir: () => void (pause = pollMs),
    run() {
      if (running) void looks.run();
    },
    async stop() {
      running = false;
      clearTimeout(timer);
      await looks.settled();
    },
  };
}
