import { emit, type Event } from '../../outbox.ts';
import type { Sql } from '../../sql.ts';
import type { FailedJob } from '../settle.store.ts';
import { isQueueOfRuns } from './limits.ts';
import { type EndedRun, type JobEnd, runStore } from './runs.store.ts';

/** Ends the runs whose jobs have ended, in the transaction that ended the jobs, with their events. */
export async function endRuns(
  sql: Sql,
  state: 'completed' | 'failed',
  ends: readonly JobEnd[],
): Promise<EndedRun[]> {
  if (ends.length === 0) return [];
  const ended = await runStore(sql).end(state, ends);
  const [first, ...rest] = ended.map((run) => endedEvent(state, run));
  if (first !== undefined) await emit(sql, first, ...rest);
  return ended;
}

/** Fails the runs of those jobs that have failed for good and executed one. */
export const failRuns = (sql: Sql, failed: readonly FailedJob[]): Promise<EndedRun[]> =>
  endRuns(
    sql,
    'failed',
    failed.filter(isOfRun).map(({ tenant_id, id, error }) => ({ tenant_id, job_id: id, result: error })),
  );

/** The runs of jobs that were cancelled are cancelled with them. */
export const cancelRuns = (
  sql: Sql,
  jobs: readonly { readonly tenant_id: string; readonly id: string; readonly queue: string }[],
): Promise<EndedRun[]> =>
  endRuns(
    sql,
    'failed',
    jobs.filter(isOfRun).map(({ tenant_id, id }) => ({ tenant_id, job_id: id, result: 'cancelled' })),
  );

export const isOfRun = ({ queue }: { readonly queue: string }): boolean => isQueueOfRuns(queue);

const endedEvent = (
  state: 'completed' | 'failed',
  { tenant_id, app_id, id, name, error }: EndedRun,
): Event => ({
  source: '/jobs',
  type: `jobs.workflow.${state}`,
  subject: id,
  tenant: tenant_id,
  app: app_id,
  actor: 'system',
  data: { run_id: id, name, error },
});
