/**
 * Background jobs over HTTP: what the engine in `src/db/engine` stores and executes, for operators and for workers in any language.
 *
 * Terminology:
 * - Job: one named piece of work with a payload. Queue: a named line of jobs.
 * - Worker: a program that executes jobs. Lease: its right to execute the jobs that it claimed, which ends unless it is renewed.
 * - Attempt: one execution of a job. To settle a job is to record how an attempt ended.
 * - Dead letter: a job that failed for good, kept for replay.
 * - Cron: a schedule that creates a job at each of its ticks.
 * - Workflow: code whose steps are recorded. Run: one execution of it. Signal: a message to a run.
 */
import { engineMigrations } from '../../db/migrate.ts';
import type { Service, ServiceModule } from '../../http/service.ts';
import { createCounts } from './counts.ts';
import { crons } from './crons.ts';
import { dlq } from './dead-letters.ts';
import { encodeError } from './errors.ts';
import { jobs as jobHandlers } from './jobs.ts';
import { leases } from './leases.ts';
import { queues } from './queues.ts';
import { runs } from './runs.ts';
import { settings } from './settings.ts';
import { stats } from './stats.ts';
import { createWaiting } from './waiting.ts';
import { workflows } from './workflows.ts';
import { createWriter } from './writes.ts';

export const jobs: ServiceModule<typeof settings> = {
  ...engineMigrations,
  name: 'jobs',
  settings,
  create({ db, engine, settings, log, ending }): Service {
    const write = createWriter({ db, wake: (queues) => engine.wake(queues) });
    const deps = { db, engine, settings, write, counts: createCounts() };
    const waiting = createWaiting({ db, log, ending, listen: (onHint) => engine.listen(onHint) });
    return {
      handlers: {
        Jobs: jobHandlers(deps),
        Leases: leases({ ...deps, waiting, ending }),
        Queues: queues(deps),
        Dlq: dlq(deps),
        Crons: crons(deps),
        Workflows: workflows(deps),
        Runs: runs(deps),
        Stats: stats(deps),
      },
      encodeError,
      start: () => waiting.start(),
      stop: () => waiting.stop(),
    };
  },
};
