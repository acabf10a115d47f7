import { Unavailable } from '../lib/errors.ts';
import { type Connect, type Lane, openLane } from './lane.ts';
import { createDeadlines } from './deadlines.ts';
import type { PoolFigures } from './figures.ts';
import type { Reach } from './reach.ts';
import type { Pool, Sql } from './sql.ts';

export interface Lanes {
  /** Runs `fn` in a transaction on a connection that nothing else uses meanwhile. */
  readonly transaction: <T>(fn: (sql: Sql) => Promise<T>) => Promise<T>;
  /** Runs the one statement of `fn` on such a connection, where it commits by itself. */
  readonly statement: <T>(fn: (sql: Sql) => Promise<T>) => Promise<T>;
  /** Figures of the connections, and of the transactions that run or wait. */
  readonly figures: () => Omit<PoolFigures, 'pool'>;
  /** Waits for transactions in flight. */
  close(): Promise<void>;
}

export interface LaneOptions {
  /** The most connections. */
  readonly max: number;
  /** The most statements or transactions that may wait; further ones are refused. */
  readonly maxWaiting: number;
  /** The most milliseconds to wait; undefined when connections always become free. */
  readonly waitMs?: number;
  /** The most milliseconds that closing waits for work in flight. */
  readonly closeMs: number;
  /** Tells whether the server answers. */
  readonly reach?: Reach | undefined;
}

interface Waiting {
  readonly resolve: (lane: Lane) => void;
  readonly reject: (error: Error) => void;
}

/** The maximum age of a connection: long-lived connections accumulate memory in the server. */
export const maxAgeMs = 1_800_000;

/** Creates a pool of connections for transactions. A lane that has lost its connection fails all further statements and is discarded. */
export function createLanes<Target>(
  create: (connect: Connect<Target>) => Pool,
  connect: Connect<Target>,
  { max, maxWaiting, waitMs, closeMs, reach }: LaneOptions,
): Lanes {
  const deadlines = waitMs === undefined ? undefined : createDeadlines(waitMs);
  const idle: Lane[] = [];
  const waiting = new Set<Waiting>();
  const all = new Set<Lane>();

  function open(): Lane {
    const lane = openLane(create, connect);
    all.add(lane);
    reach?.watch(lane);
    return lane;
  }

  function discard(lane: Lane): void {
    all.delete(lane);
    reach?.unwatch(lane);
    void lane.end(0);
  }

  async function take(): Promise<Lane> {
    const problem = reach?.problem();
    if (problem !== undefined) throw problem;
    for (let lane = idle.pop(); lane !== undefined; lane = idle.pop()) {
      if (!lane.lost()) return lane;
      discard(lane);
    }
    return all.size < max ? open() : turn();
  }

  function turn(): Promise<Lane> {
    if (waiting.size >= maxWaiting) throw Unavailable('store busy');
    return new Promise((resolve, reject) => {
      const inTime = deadlines?.add(() => settled(() => reject(Unavailable('store busy'))));
      const settled = (then: () => void) => {
        inTime?.();
        waiting.delete(own);
        then();
      };
      const own: Waiting = {
        resolve: (lane) => settled(() => resolve(lane)),
        reject: (error) => settled(() => reject(error)),
      };
      waiting.add(own);
    });
  }

  function give(lane: Lane): void {
    const usable = !lane.lost() && performance.now() - lane.born < maxAgeMs;
    if (!usable) discard(lane);
    const [next] = waiting;
    if (next !== undefined) next.resolve(usable ? lane : open());
    else if (usable) idle.push(lane);
  }

  reach?.onSilence((problem) => waiting.forEach(({ reject }) => reject(problem)));

  async function on<T>(run: (sql: Sql) => Promise<T>): Promise<T> {
    const lane = await take();
    try {
      return await run(lane.sql);
    } finally {
      give(lane);
    }
  }

  return {
    transaction: (fn) => on((sql) => inTransaction(sql, fn)),
    statement: on,
    figures: () => ({ open: all.size, busy: all.size - idle.length, waiting: waiting.size }),
    async close() {
      await Promise.all([...all].map((lane) => lane.end(closeMs)));
      for (const lane of all) reach?.unwatch(lane);
    },
  };
}

async function inTransaction<T>(own: Sql, fn: (sql: Sql) => Promise<T>): Promise<T> {
  // Code that keeps the handle must not be able to use it in the next transaction.
  const { proxy: sql, revoke } = Proxy.revocable<Sql>(own, {});
  // This is sent together with the first statement, which saves a round trip; when this fails, that statement fails too.
  own.unsafe('begin').catch(() => {});
  let result: T;
  try {
    result = await fn(sql);
  } catch (error) {
    // When even this fails, the connection is lost, and the transaction with it.
    await own.unsafe('rollback').catch(() => {});
    throw error;
  } finally {
    revoke();
  }
  const { command } = await own.unsafe('commit');
  if (command !== 'COMMIT')
    throw new Error('the transaction was rolled back, because one of its statements had failed');
  return result;
}
