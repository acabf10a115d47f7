import { DatabaseClock, monotonic } from './clock.ts';
import type { Sql } from './sql.ts';

/** The current connections of one pool. */
export interface PoolFigures {
  readonly pool: 'statements' | 'transactions' | 'background';
  readonly open: number;
  /** Statements or transactions in progress. */
  readonly busy: number;
  /** Statements or transactions that wait for a connection. */
  readonly waiting: number;
}

/** Figures that the database reports about itself. */
export interface StoreFigures {
  readonly bytes: number;
  /** Seconds by which the database's clock is ahead of the process's clock. */
  readonly clockAhead: number;
  /** The approximate number of events in the outbox of each service. */
  readonly outbox: readonly { readonly service: string; readonly rows: number }[];
}

/** Reads estimates that the database keeps anyway, so the cost does not depend on the size of the tables. */
export async function storeFigures(sql: Sql): Promise<StoreFigures> {
  const clockAhead = await clockAheadOf(sql);
  const [size, outbox] = await Promise.all([
    sql<[{ bytes: number }]>`select pg_database_size(current_database()) as bytes`,
    sql<{ service: string; rows: number }[]>`
      select nspname as service, greatest(reltuples, 0)::bigint as rows
      from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where relname = 'outbox' and relkind in ('r', 'p')
      order by nspname`,
  ]);
  return { bytes: size[0].bytes, clockAhead, outbox };
}

async function clockAheadOf(sql: Sql): Promise<number> {
  const clock = new DatabaseClock();
  const sent = monotonic();
  const [{ now }] = await sql<[{ now: number }]>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`;
  clock.observe(now, sent, monotonic());
  return (clock.now() - Date.now()) / 1_000;
}
