import { newId } from '../../lib/ids.ts';
import type { Sql } from '../sql.ts';

/** Every statement that deletes what has been kept for long enough, up to `most` rows each. They return how many. */
export const retentionStore = (sql: Sql) => ({
  /** A job whose unique key is still reserved is kept, because it answers for the key. Jobs begin with the time of their creation in their ids, so those that may be old enough come first. */
  async jobs(retentionMs: number, most: number): Promise<number> {
    const [row] = await sql<[{ now: number }]>`select extract(epoch from now())::float8 * 1000 as now`;
    const { count } = await sql`
      delete from jobs.job_done where (tenant_id, id) in (
        select tenant_id, id from jobs.job_done
        where id < ${newId('job', row.now - retentionMs)} and completed_at < now() - ${retentionMs}::float8 * interval '1 millisecond'
          and not exists (
            select from jobs.job_key as held
            where held.tenant_id = job_done.tenant_id and held.app_id = job_done.app_id and held.unique_key = job_done.unique_key
              and held.job_id = job_done.id and held.expires_at > now()
          )
        order by id
        limit ${most}
        for update skip locked
      )`;
    return count;
  },

  async keys(most: number): Promise<number> {
    const { count } = await sql`
      delete from jobs.job_key where (tenant_id, app_id, unique_key) in (
        select tenant_id, app_id, unique_key from jobs.job_key where expires_at <= now() limit ${most} for update skip locked
      )
      and expires_at <= now()`;
    return count;
  },
});
