import type { Fragment } from 'postgres';
import { type AfterCommits, afterCommits } from './after-commit.ts';
import { openEmbedded } from './embedded.ts';
import { toDomainError } from './errors.ts';
import { type PoolFigures, storeFigures, type StoreFigures } from './figures.ts';
import type { Lanes } from './lanes.ts';
import type { Log } from './log.ts';
import { createNotices, type Notices } from './notices.ts';
import { openServer, usualConnections } from './server.ts';
import type { Sql } from './sql.ts';

export type { Fragment };
export type { Log } from './log.ts';
export type { Notices } from './notices.ts';
export type { Sql } from './sql.ts';
export type Engine = 'pglite' | 'postgres';

/** An open database, with the same interface on both engines. */
export interface Database {
  readonly engine: Engine;
  /** Where the server is, for threads that open connections of their own; undefined on PGlite. */
  readonly url: string | undefined;
  /** Runs single statements. Inside a transaction only the transaction's own `sql` may be used. */
  readonly sql: Sql;
  /**
   * Runs `fn` in one transaction: committed when `fn` resolves, rolled back when it throws. On PGlite all other statements wait
   * meanwhile, so `fn` must wait for nothing but its own statements. Throws `Unavailable` when the store cannot be reached; then
   * it is unknown whether the commit took place.
   */
  transaction<T>(fn: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Runs the one statement of `fn`, which commits by itself and may wait for locks: it has a connection of its own meanwhile. It spares
   * the round trip of a commit.
   */
  statement<T>(fn: (sql: Sql) => Promise<T>): Promise<T>;
  /** Separate connections for short statements that must not wait behind requests: heartbeats and leases. */
  readonly background: Sql;
  /** Runs `fn` right after the transaction of `sql` commits, before `transaction` returns; outside of a transaction, at once. */
  afterCommit(sql: Sql, fn: () => void): void;
  /** Runs a transaction without time limits, for migrations. */
  maintenance<T>(fn: (sql: Sql) => Promise<T>): Promise<T>;
  readonly notices: Notices;
  /** Resolves when the database answers, over a connection that nothing else uses. */
  probe(): Promise<void>;
  /** Figures of the connections of this process. */
  readonly pools: () => readonly PoolFigures[];
  /** Figures that the database reports about itself. */
  readonly store: () => Promise<StoreFigures>;
  /** Waits for statements in flight, then closes all connections. */
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** URL of PostgreSQL 15 or newer; without it the embedded database is used. */
  url?: string | undefined;
  /** The most connections to PostgreSQL, from 8. */
  connections?: number;
  /** Folder of the embedded database; created when it does not exist. */
  dataDir: string;
  log: Log;
  /** Bytes of free disk space below which the embedded database refuses writes. */
  minFree?: number;
}

/** Opens PostgreSQL when `url` is given, else the embedded PGlite of the data directory. */
export async function openDatabase({
  url,
  connections = usualConnections,
  dataDir,
  log,
  minFree,
}: DatabaseOptions): Promise<Database> {
  const engine = url === undefined ? 'pglite' : 'postgres';
  const backend =
    url === undefined
      ? await openEmbedded({ dataDir, log, minFree })
      : await openServer({ url, log, connections });
  const { pool, listener } = backend;
  const commits = afterCommits(log);
  const notices = createNotices({ listener, after: commits.after, log });
  backend.onLoss?.(notices.gap);
  return {
    engine,
    url,
    sql: pool,
    background: backend.background,
    afterCommit: commits.after,
    transaction: (fn) => transaction(backend.lanes.transaction, commits, fn),
    statement: (fn) =>
      backend.lanes.statement(fn).catch((error: unknown) => {
        throw toDomainError(error);
      }),
    maintenance: (fn) => transaction(backend.maintenance, commits, fn),
    notices,
    probe: () => backend.probe.ask(),
    pools: backend.figures,
    store: () => storeFigures(backend.background),
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
