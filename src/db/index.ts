import { type AfterCommits, afterCommits } from './after-commit.ts';
import { openEmbedded } from './embedded.ts';
import { toDomainError } from './errors.ts';
import type { Lanes } from './lanes.ts';
import type { Log } from './log.ts';
import { createNotices, type Notices } from './notices.ts';
import { openServer } from './server.ts';
import type { Sql } from './sql.ts';

export type { Log } from './log.ts';
export type { Notices } from './notices.ts';
export type { Sql } from './sql.ts';
export type Engine = 'pglite' | 'postgres';

/** One open database, the same on both engines. */
export interface Database {
  readonly engine: Engine;
  /** For single statements. Inside a transaction only the transaction's own `sql` may be used. */
  readonly sql: Sql;
  /**
   * Runs `fn` in one transaction: committed when it resolves, rolled back when it throws. On PGlite everything else waits
   * meanwhile, so `fn` waits for nothing but its own statements. Throws `Unavailable` when the store cannot be reached; then
   * it is unknown whether the commit took place.
   */
  transaction<T>(fn: (sql: Sql) => Promise<T>): Promise<T>;
  /** Connections of their own for short statements that must not wait behind requests: heartbeats and leases. */
  readonly background: Sql;
  /** Runs `fn` right after the commit of the transaction that `sql` is, before `transaction` returns; outside of one, at once. */
  afterCommit(sql: Sql, fn: () => void): void;
  /** A transaction without time limits, for migrations. */
  maintenance<T>(fn: (sql: Sql) => Promise<T>): Promise<T>;
  readonly notices: Notices;
  /** Waits for statements in flight, then lets go of everything. */
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** PostgreSQL 15 or newer; the embedded database without it. */
  url?: string | undefined;
  /** Where the embedded database lives; made when it does not exist. */
  dataDir: string;
  log: Log;
}

/** Opens PostgreSQL where `url` is given, else the embedded PGlite of the data directory. */
export async function openDatabase({ url, dataDir, log }: DatabaseOptions): Promise<Database> {
  const engine = url === undefined ? 'pglite' : 'postgres';
  const backend = url === undefined ? await openEmbedded({ dataDir, log }) : await openServer({ url, log });
  const { pool, listener } = backend;
  const commits = afterCommits(log);
  const notices = createNotices({ listener, after: commits.after, log });
  return {
    engine,
    sql: pool,
    background: backend.background,
    afterCommit: commits.after,
    transaction: (fn) => transaction(backend.lanes.transaction, commits, fn),
    maintenance: (fn) => transaction(backend.maintenance, commits, fn),
    notices,
    async close() {
      await notices.close();
      await backend.close();
    },
  };
}

async function transaction<T>(
  run: Lanes['transaction'],
  commits: AfterCommits,
  fn: (sql: Sql) => Promise<T>,
): Promise<T> {
  let own: Sql | undefined;
  try {
    const result = await run((sql) => {
      own = sql;
      commits.begin(sql);
      return fn(sql);
    });
    if (own !== undefined) commits.run(own);
    return result;
  } catch (error) {
    throw toDomainError(error);
  }
}
