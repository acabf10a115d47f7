import type { TestDatabase } from '../../../testing/database.ts';
import { startProcess, type WorkerProcess } from '../../../testing/worker-processes.ts';
import type { EngineSettings } from '../index.ts';

/** The parameters of a process that executes jobs. */
export interface Start {
  readonly url: string | undefined;
  readonly dataDir: string;
  readonly settings: Partial<EngineSettings>;
}

/** Real processes with engines on the database of a test. Their handlers write into the table `ran`. */
export function engineProcesses(db: () => Pick<TestDatabase, 'options'>) {
  const open = new Set<WorkerProcess>();
  return {
    start: async (settings: Partial<EngineSettings> = {}): Promise<WorkerProcess> => {
      const start: Start = { ...db().options, settings };
      const worker = await startProcess(new URL('./engine-process.ts', import.meta.url), start);
      open.add(worker);
      return worker;
    },
    kill: async (): Promise<void> => {
      for (const worker of open) worker.signal('SIGCONT');
      await Promise.all([...open].map((worker) => worker.kill()));
      open.clear();
    },
  };
}

/** Creates the table in which processes note where they have died. */
export const createKilled = (db: TestDatabase) => db.sql`create table killed (place text primary key)`;

/** Creates the tables of the handlers. */
export const createRan = (db: TestDatabase) => db.sql`
  create table ran (
    id text not null, pid integer not null, attempt integer not null, began timestamptz not null default clock_timestamp(),
    ended timestamptz
  )`;
