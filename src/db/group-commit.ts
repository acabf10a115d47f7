import { Unavailable } from '../lib/errors.ts';
import { outsideRequests } from '../lib/request-scope.ts';

export interface GroupCommitOptions<Item> {
  /** Writes and commits a whole batch, in the order in which its items arrived. When it throws, the items of this batch are refused. */
  write: (items: Item[]) => Promise<void>;
  /** The most items of one batch. */
  maxBatch: number;
  /** The most items that may wait for a batch; items in flight do not count. */
  maxBacklog: number;
  /** The weight of an item, such as its rows or bytes, and the most that a batch weighs unless one item alone weighs more. */
  weight?: { of: (item: Item) => number; most: number };
  /** Creates the error for the caller when the backlog is full, for example `RateLimited`. */
  overloaded: () => Error;
}

export interface GroupCommit<Item> {
  /** Resolves only when all of these items are committed. Takes all of them, or rejects and takes none when the backlog is full. */
  add(...items: readonly Item[]): Promise<void>;
  /** Resolves when everything added before the call is committed or refused. */
  flush(): Promise<void>;
  /** Flushes; from this call on `add` rejects with `Unavailable`. */
  close(): Promise<void>;
}

interface Waiting<Item> {
  readonly items: readonly Item[];
  /** The number of items that no batch has taken yet. */
  left: number;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Lets many small writes share commits: items that arrive while a commit is in flight form the next batch, so a commit costs the same
 * for one caller as for hundreds. At most one commit is in flight.
 */
export function groupCommit<Item>({
  write,
  maxBatch,
  maxBacklog,
  weight = { of: () => 0, most: 0 },
  overloaded,
}: GroupCommitOptions<Item>): GroupCommit<Item> {
  let waiting: Waiting<Item>[] = [];
  let backlog = 0;
  let running: Promise<void> | undefined;
  let last: Promise<void> | undefined;
  let closed = false;

  async function run(): Promise<void> {
    // All items that are added in this turn of the event loop go into the first batch.
    await Promise.resolve();
    while (waiting.length > 0) {
      const { items, finished, touched } = takeBatch();
      try {
        await outsideRequests(() => write(items));
        for (const { done } of finished) done();
      } catch (error) {
        refuse(touched, error);
      }
    }
    running = undefined;
  }

  /** Takes the next batch. A call stays in the queue until its last item is taken. */
  function takeBatch(): { items: Item[]; finished: Waiting<Item>[]; touched: Waiting<Item>[] } {
    const items: Item[] = [];
    const finished: Waiting<Item>[] = [];
    const touched: Waiting<Item>[] = [];
    let weighed = 0;
    const fits = (item: Item) => {
      const more = weight.of(item);
      if (items.length >= maxBatch || (items.length > 0 && weighed + more > weight.most)) return false;
      weighed += more;
      return true;
    };
    for (const call of waiting) {
      const left = call.left;
      for (let next = call.items.length - left; call.left > 0 && fits(call.items[next]!); next++) {
        items.push(call.items[next]!);
        call.left -= 1;
      }
      if (call.left < left) touched.push(call);
      if (call.left > 0) break;
      finished.push(call);
    }
    waiting = waiting.slice(finished.length);
    backlog -= items.length;
    return { items, finished, touched };
  }

  /** A call whose items are spread over several batches fails as a whole when one batch fails: the remaining items are not tried. */
  function refuse(touched: Waiting<Item>[], error: unknown): void {
    for (const { failed } of touched) failed(error);
    const [cut] = waiting;
    if (cut === undefined || cut !== touched.at(-1)) return;
    backlog -= cut.left;
    waiting.shift();
  }

  const add = (...items: readonly Item[]): Promise<void> => {
    if (closed) return Promise.reject(Unavailable('shutting down'));
    if (items.length === 0) return Promise.resolve();
    if (backlog + items.length > maxBacklog) return Promise.reject(overloaded());
    backlog += items.length;
    const committed = new Promise<void>((done, failed) => {
      waiting.push({ items, left: items.length, done, failed });
      running ??= run();
    });
    last = committed.catch(() => {});
    return committed;
  };

  /** Calls complete in the order in which they were made, so waiting for the last one is enough. */
  const flush = async (): Promise<void> => {
    await last;
  };

  return {
    add,
    flush,
    close() {
      closed = true;
      return flush();
    },
  };
}
