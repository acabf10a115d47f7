import type { Logger } from 'pino';
import { createHints } from '../../../db/hints.ts';
import type { Database } from '../../../db/index.ts';
import { type Dataset, nameOf } from '../dataset.ts';
import { presenceStore } from '../presence/presence.store.ts';
import { pageStore } from '../pull/pages.store.ts';
import type { Settings } from '../settings.ts';
import type { Subscription } from './subscription.ts';
import { createTail, type Tail } from './tail.ts';

/** The tails of this process, one for each data set that has streams here. */
export interface Tails {
  /** Subscribes to what arrives from the moment at which the promise resolves. */
  subscribe(dataset: Dataset): Promise<Subscription>;
  /** Tells all processes that something arrived. Call it after the commit. */
  readonly wake: (dataset: Dataset) => void;
  start(): void;
  stop(): Promise<void>;
}

interface TailsDeps {
  readonly db: Database;
  readonly settings: Settings;
  readonly log: Logger;
}

export function createTails({ db, settings, log }: TailsDeps): Tails {
  const tails = new Map<string, Tail>();
  const hints = createHints({ db, log, channel: 'sync' });
  const hasPresence = settings.presence === 'on';
  let timer: NodeJS.Timeout | undefined;
  let polling = false;
  let unlisten = () => {};

  const onError = (error: unknown) => log.warn({ err: error }, 'streams wait for the database');

  function tailOf(dataset: Dataset): Tail {
    const name = nameOf(dataset);
    const known = tails.get(name);
    if (known) return known;
    const tail = createTail(dataset, {
      ...{ db, hasPresence, onError },
      onIdle() {
        if (tails.get(name) === tail) tails.delete(name);
      },
    });
    tails.set(name, tail);
    return tail;
  }

  /** Finds what no hint told, for all data sets at once. */
  async function poll(): Promise<void> {
    if (polling || tails.size === 0) return;
    polling = true;
    try {
      const all = [...tails.values()];
      const datasets = all.map(({ dataset }) => dataset);
      const [clocks, revisions] = await Promise.all([
        pageStore(db.sql).clocks(datasets),
        hasPresence ? presenceStore(db.sql).revisions(datasets) : [],
      ]);
      for (const [at, tail] of all.entries())
        if (tail.isBehind(clocks[at]?.clock ?? 0n, clocks[at]?.epoch, revisions[at] ?? 0)) tail.wake();
    } catch (error) {
      onError(error);
    } finally {
      polling = false;
    }
  }

  const wakeNamed = (names: Iterable<string> | undefined) => {
    for (const name of names ?? tails.keys()) tails.get(name)?.wake();
  };

  return {
    async subscribe(dataset) {
      const tail = tailOf(dataset);
      const subscription = tail.subscribe();
      try {
        await tail.ready;
        return subscription;
      } catch (error) {
        subscription.close();
        throw error;
      }
    },
    wake: (dataset) => hints.give(new Set([nameOf(dataset)])),
    start() {
      unlisten = hints.listen(wakeNamed);
      timer = setInterval(() => void poll(), settings.streamPollMs).unref();
    },
    async stop() {
      clearInterval(timer);
      unlisten();
      await hints.stop();
    },
  };
}
