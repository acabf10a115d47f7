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
import { encodeError } from './errors.ts';
import { settings } from './settings.ts';

export const jobs: ServiceModule<typeof settings> = {
  ...engineMigrations,
  name: 'jobs',
  // What is not built yet is neither served nor documented.
  built: [],
  settings,
  create(): Service {
    return { handlers: {}, encodeError };
  },
};
