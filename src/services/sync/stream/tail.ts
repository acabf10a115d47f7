import type { Database } from '../../../db/index.ts';
import type { Dataset } from '../dataset.ts';
import { cellBytes } from '../limits.ts';
import { presenceStore } from '../presence/presence.store.ts';
import { newsOf } from '../presence/presence-news.ts';
import { pageStore, type CellPage } from '../pull/pages.store.ts';
import { createSubscription, type News, type Subscription } from './subscription.ts';

/** Follows one data set on behalf of all streams of this process. It knows only where it is. */
export interface Tail {
  readonly dataset: Dataset;
  /** Resolves when it knows where it begins: what arrives from then on is told to all subscriptions. */
  readonly ready: Promise<void>;
  subscribe(): Subscription;
  /** Reads what is new; at most one read runs at a time. */
  wake(): void;
  /** Whether the data set has moved on from here. */
  isBehind(clock: bigint, epoch: string | undefined, presence: number): boolean;
}

interface TailDeps {
  readonly db: Database;
  readonly hasPresence: boolean;
  readonly onError: (error: unknown) => void;
  /** Called when the last subscription has ended. */
  readonly onIdle: () => void;
}

/** Changes and bytes that are read at a time. */
export const batch = { limit: 1_000, bytes: 1024 ** 2 };

export function createTail(dataset: Dataset, { db, hasPresence, onError, onIdle }: TailDeps): Tail {
  const subscriptions = new Set<Subscription>();
  const pages = pageStore(db.sql);
  let at = { stamp: 0n, epoch: undefined as string | undefined, rev: 0 };
  let running = false;
  let again = false;

  const ready = (async () => {
    const [[clock], rev] = await Promise.all([
      pages.clocks([dataset]),
      hasPresence
        ? presenceStore(db.sql)
            .revisions([dataset])
            .then(([rev = 0]) => rev)
        : 0,
    ]);
    at = { stamp: clock?.clock ?? 0n, epoch: clock?.epoch, rev };
  })();

  const tell = (news: News) => {
    for (const subscription of subscriptions) subscription.offer(news);
  };

  async function follow(): Promise<void> {
    await ready;
    while (await readChanges());
    while (hasPresence && (await readPresence()));
  }

  /** Returns whether more follows. */
  async function readChanges(): Promise<boolean> {
    const page = await pages.read(dataset, { tables: undefined, after: at.stamp, ...batch });
    const { life, cells, hasMore } = page;
    if (isReset(page)) {
      tell({ kind: 'reset', weight: 0 });
      at = { ...at, stamp: life?.clock ?? 0n, epoch: life?.epoch };
      return false;
    }
    if (life === undefined) return false;
    const to = hasMore ? cells.at(-1)!.arrival : life.clock;
    if (to > at.stamp) {
      const weight = cells.reduce((sum, { cell }) => sum + cell.value.length + cellBytes, 0);
      tell({ kind: 'arrived', from: at.stamp, to, epoch: life.epoch, cells, weight, texts: new Map() });
    }
    at = { ...at, stamp: to, epoch: life.epoch };
    return hasMore;
  }

  const isReset = ({ life }: CellPage): boolean =>
    at.epoch !== undefined && (life === undefined || life.epoch !== at.epoch || life.clock < at.stamp);

  async function readPresence(): Promise<boolean> {
    const { rows, hasMore } = await presenceStore(db.sql).after(dataset, at.rev, batch.limit);
    if (rows.length === 0) return false;
    const news = newsOf(rows, at.rev);
    tell(news);
    at = { ...at, rev: news.to };
    return hasMore;
  }

  return {
    dataset,
    ready,
    subscribe() {
      const subscription = createSubscription((ended) => {
        subscriptions.delete(ended);
        if (subscriptions.size === 0) onIdle();
      });
      subscriptions.add(subscription);
      return subscription;
    },
    wake() {
      if (running) again = true;
      else void run();
    },
    isBehind: (clock, epoch, presence) => clock !== at.stamp || epoch !== at.epoch || presence > at.rev,
  };

  async function run(): Promise<void> {
    running = true;
    try {
      do {
        again = false;
        await follow();
      } while (again && subscriptions.size > 0);
    } catch (error) {
      // The next poll tries again, from the same position.
      onError(error);
    } finally {
      running = false;
    }
  }
}
