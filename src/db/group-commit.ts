import { Unavailable } from '../lib/errors.ts';

export interface GroupCommitOptions<Item> {
  /** Writes and commits a whole batch, in the order in which its items came. When it throws, the items of this batch are refused. */
  write: (items: Item[]) => Promise<void>;
  /** Items of one batch at most. */
  maxBatch: number;
  /** Items that may wait for a batch; those in flight do not count. */
  maxBacklog: number;
  /** What is thrown at the caller when the backlog is full, for example `RateLimited`. */
  overloaded: () => Error;
}

export interface GroupCommit<Item> {
  /** Resolves when all of these items are committed, not before. Takes all of them or, when the backlog is full, throws and takes none. */
  add(...items: readonly Item[]): Promise<void>;
  /** Resolves when everything added before the call is committed or refused. */
  flush(): Promise<void>;
  /** Flushes; `add` throws `Unavailable` from the call on. */
  close(): Promise<void>;
}

interface Waiting<Item> {
  readonly items: readonly Item[];
  /** How many of the items no batch has taken yet. */
  left: number;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Many small writes that share commits: while one commit is in flight, what arrives forms the next batch, so a commit costs the same
 * for one caller and for hundreds. At most one commit is in flight.
 */
export function groupCommit<Item>({
  write,
  maxBatch,
  maxBacklog,
  overloaded,
}: GroupCommitOptions<Item>): GroupCommit<Item> {
  let waiting: Waiting<Item>[] = [];
  let backlog = 0;
  let running: Promise<void> | undefined;
  let last: Promise<void> | undefined;
  let closed = false;

  async function run(): Promise<void> {
    // Everything that is added in this turn of the event loop goes into the first batch.
    await Promise.resolve();
    while (waiting.length > 0) {
      const { items, finished, touched } = takeBatch();
      try {
        await write(items);
        for (const { done } of finished) done();
      } catch (error) {
        refuse(touched, error);
      }
    }
    running = undefined;
  }

  /** Calls stay in the queue until their last item was taken. */
  function takeBatch(): { items: Item[]; finished: Waiting<Item>[]; touched: Waiting<Item>[] } {
    const items: Item[] = [];
    const finished: Waiting<Item>[] = [];
    const touched: Waiting<Item>[] = [];
    for (const call of waiting) {
      const from = call.items.length - call.left;
      const taken = call.items.slice(from, from + maxBatch - items.length);
      items.push(...taken);
      call.left -= taken.length;
      touched.push(call);
      if (call.left === 0) finished.push(call);
      if (items.length >= maxBatch) break;
    }
    waiting = waiting.slice(finished.length);
    backlog -= items.length;
    return { items, finished, touched };
  }

  /** A call whose items were spread over batches fails as a whole when one of them does: the rest is not tried. */
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

  /** Calls end in the order in which they came, so the last one ends last. */
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
