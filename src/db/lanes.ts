import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Pool, Sql } from './sql.ts';

export type Connect<Target> = (target: Target) => Duplex;

export interface Lanes {
  /** Runs `fn` in a transaction on a connection that nobody else uses meanwhile. */
  readonly transaction: <T>(fn: (sql: Sql) => Promise<T>) => Promise<T>;
  /** Waits for transactions in flight. */
  close(): Promise<void>;
}

interface Lane {
  readonly pool: Pool;
  readonly lost: () => boolean;
  readonly born: number;
}

/** Long-lived connections pile up memory in the server. */
const maxAgeMs = 1_800_000;

/**
 * Connections for transactions, each a postgres.js of its own that connects exactly once. postgres.js' own `begin` cannot be used:
 * when the connection is lost inside of it, the next statement or the rollback writes to a socket that is gone, from a timer, which
 * ends the process. Here a lane that has lost its connection fails every further statement and is thrown away.
 */
export function createLanes<Target>(
  create: (connect: Connect<Target>) => Pool,
  connect: Connect<Target>,
  { max, closeMs }: { max: number; closeMs: number },
): Lanes {
  const idle: Lane[] = [];
  const waiting: ((lane: Lane) => void)[] = [];
  const all = new Set<Lane>();

  function open(): Lane {
    const { once, lost } = connectOnce(connect);
    const lane = { pool: create(once), lost, born: performance.now() };
    all.add(lane);
    return lane;
  }

  function discard(lane: Lane): void {
    all.delete(lane);
    void lane.pool.end({ timeout: 0 });
  }

  async function take(): Promise<Lane> {
    for (let lane = idle.pop(); lane !== undefined; lane = idle.pop()) {
      if (!lane.lost()) return lane;
      discard(lane);
    }
    return all.size < max ? open() : new Promise((resolve) => waiting.push(resolve));
  }

  function give(lane: Lane): void {
    const usable = !lane.lost() && performance.now() - lane.born < maxAgeMs;
    if (!usable) discard(lane);
    const next = waiting.shift();
    if (next !== undefined) next(usable ? lane : open());
    else if (usable) idle.push(lane);
  }

  return {
    async transaction(fn) {
      const lane = await take();
      try {
        return await inTransaction(lane.pool, fn);
      } finally {
        give(lane);
      }
    },
    async close() {
      // A lane without its connection has nothing to wait for.
      await Promise.all([...all].map(({ pool, lost }) => pool.end({ timeout: lost() ? 0 : closeMs / 1000 })));
    },
  };
}

async function inTransaction<T>(pool: Pool, fn: (sql: Sql) => Promise<T>): Promise<T> {
  // Code that keeps the handle must not find itself in the next transaction.
  const { proxy: sql, revoke } = Proxy.revocable<Sql>(pool, {});
  // Sent together with the first statement, which fails too where this does: one round trip less.
  pool.unsafe('begin').catch(() => {});
  let result: T;
  try {
    result = await fn(sql);
  } catch (error) {
    // Where even this fails the connection is gone, and the transaction with it.
    await pool.unsafe('rollback').catch(() => {});
    throw error;
  } finally {
    revoke();
  }
  const { command } = await pool.unsafe('commit');
  if (command !== 'COMMIT')
    throw new Error('the transaction was rolled back, because one of its statements had failed');
  return result;
}

/** A second connection would continue in the middle of a transaction that the first one has lost. */
function connectOnce<Target>(connect: Connect<Target>): { once: Connect<Target>; lost: () => boolean } {
  let socket: Duplex | undefined;
  return {
    once(target) {
      if (socket === undefined) return (socket = connect(target));
      const refused = new Socket();
      setImmediate(() =>
        refused.destroy(Object.assign(new Error('the connection was lost'), { code: 'ECONNRESET' })),
      );
      return refused;
    },
    lost: () => socket?.destroyed ?? false,
  };
}
