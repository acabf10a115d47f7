import type { Fragment } from 'postgres';
import type { Sql } from '../sql.ts';

/** The live jobs of one of the platform's own queues that are in one state. */
export interface JobBacklog {
  readonly queue: string;
  readonly state: 'pending' | 'retrying' | 'running';
  /** Their number, up to a bound. */
  readonly count: number;
  /** Seconds for which the oldest of those that wait has been due; 0 when none is. */
  readonly oldestSeconds: number;
}

/** The most queues that are looked at, and the most jobs of a queue that wait or run which are counted. */
const most = { queues: 100, jobs: 5_000 };

/**
 * What the platform's own queues hold, in one statement whose cost is bounded however many jobs there are. Queues of users are left
 * out: their names are unbounded, and the service `jobs` tells of them.
 */
export async function jobBacklog(sql: Sql): Promise<JobBacklog[]> {
  return await sql<JobBacklog[]>`
    with recursive names as (
      select ${nextQueue(sql, sql`'plinth.'`)} as queue
      union all
      select ${nextQueue(sql, sql`names.queue`)} from names where names.queue is not null
    ), known as (
      select queue from names where queue is not null limit ${most.queues}
    )
    select queue, state, count(*)::int as count,
      greatest(extract(epoch from statement_timestamp() - min(run_at) filter (where state <> 'running')), 0)::float8 as "oldestSeconds"
    from known cross join lateral (
      (select state, run_at from jobs.job where job.queue = known.queue and state in ('pending', 'retrying') limit ${most.jobs})
      union all
      (select state, run_at from jobs.job where job.queue = known.queue and state = 'running' limit ${most.jobs})
    ) as found
    group by queue, state order by queue, state`;
}

/** The first of the platform's queues after a name that has live jobs: one lookup in each of the two indexes that begin with the queue. */
const nextQueue = (sql: Sql, after: Fragment) => sql`
  least(
    (select min(queue) from jobs.job where state in ('pending', 'retrying') and queue > ${after} and queue < 'plinth/'),
    (select min(queue) from jobs.job where state = 'running' and queue > ${after} and queue < 'plinth/')
  )`;
