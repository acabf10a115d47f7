import { expect } from 'vitest';
import type { Database } from '../../index.ts';
import { createEngine, type Engine, type EngineSettings } from '../index.ts';
import { pino } from 'pino';

export const log = pino({ level: 'silent' });

/** Engines on the database of a test, which are stopped together. */
export function engines(db: () => Database) {
  const open = new Set<Engine>();
  return {
    create: (settings: Partial<EngineSettings> = {}): Engine => {
      const engine = createEngine({ db: db(), log, settings });
      open.add(engine);
      return engine;
    },
    stop: async (): Promise<void> => {
      await Promise.all([...open].map((engine) => engine.stop(1_000)));
      open.clear();
    },
  };
}

/** What a test reads of the tables. */
export const queries = (db: () => Pick<Database, 'sql'>) => ({
  /** The numbers of jobs in each state, live and ended. */
  counts: async (): Promise<Record<string, number>> => {
    const rows = await db().sql<{ state: string; count: number }[]>`
      select state, count(*) from (select state from jobs.job union all select state from jobs.job_done) as jobs group by state`;
    return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  },
  job: async (id: string) => {
    const [row] = await db().sql`
      select id, state, attempt, lost_count, last_error, run_at, null::json as output from jobs.job where id = ${id}
      union all
      select id, state, attempt, lost_count, last_error, run_at, output from jobs.job_done where id = ${id}`;
    return row;
  },
  /** Deletes all rows. Truncating would make the database plan every statement anew. */
  clear: async (): Promise<void> => {
    for (const table of [
      'job',
      'job_done',
      'job_key',
      'lease',
      'queue',
      'dlq',
      'cron',
      'outbox',
      'run',
      'step',
      'signal',
      'workflow',
    ])
      await db().sql`delete from ${db().sql(`jobs.${table}`)}`;
  },
});

/** Waits until all jobs have these states. */
export const settledAs = (
  counts: () => Promise<Record<string, number>>,
  expected: Record<string, number>,
  timeout = 40_000,
) => expect.poll(counts, { timeout, interval: 50 }).toEqual(expected);
