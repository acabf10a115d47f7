import { newId } from '../../lib/ids.ts';
import type { Database } from '../index.ts';
import { emit, type Event } from '../outbox.ts';
import type { Sql } from '../sql.ts';
import { failRuns } from './runs/ends.ts';
import { type Conclusion, type FailedJob, settleStore } from './settle.store.ts';

/** What became of executions that were not completed. */
export interface Concluded {
  /** The jobs whose execution still counted. */
  readonly ids: ReadonlySet<string>;
  /** The queues that have jobs waiting again. */
  readonly queues: ReadonlySet<string>;
}

/** Records the outcomes of executions that were not completed, in the transaction of `sql`. */
export async function conclude(sql: Sql, list: readonly Conclusion[]): Promise<Concluded> {
  const statements = settleStore(sql);
  const back = list.filter(({ outcome }) => outcome.state !== 'failed');
  const over = list.filter(({ outcome }) => outcome.state === 'failed');
  const waiting = back.length === 0 ? [] : await statements.putBack(back);
  const failed =
    over.length === 0 ? [] : await statements.fail(over.map((one) => ({ ...one, dlq_id: newId('dlq') })));
  const [first, ...rest] = failed.map(failedEvent);
  if (first !== undefined) await emit(sql, first, ...rest);
  await failRuns(sql, failed);
  return {
    ids: new Set([...waiting, ...failed].map(({ id }) => id)),
    queues: new Set(waiting.map(({ queue }) => queue)),
  };
}

/** Records outcomes in a transaction of their own, if they need one: a dead letter comes with its event. */
export const concludeAlone = (db: Database, list: readonly Conclusion[]): Promise<Concluded> =>
  list.some(({ outcome }) => outcome.state === 'failed')
    ? db.transaction((sql) => conclude(sql, list))
    : conclude(db.background, list);

const failedEvent = ({ id, dlq_id, tenant_id, app_id, name, queue, error, attempt }: FailedJob): Event => ({
  source: '/jobs',
  type: 'jobs.job.failed',
  subject: id,
  tenant: tenant_id,
  app: app_id,
  actor: 'system',
  data: { job_id: id, job_name: name, queue, error, attempt, dlq_id },
});
