/** Whether a claim costs more when more jobs wait. */
import { claim } from '../../src/db/engine/claim.store.ts';
import type { Database, Sql } from '../../src/db/index.ts';
import { atMostTimes, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { median, timed } from '../statistics.ts';
import { analyze, onServer } from './place.ts';

const target = '≤ 1.5 ×';

/** Each backlog is in a database of its own, and the claims alternate between both. */
export function backlog(): AsyncIterable<Row> {
  return onServer('claim from a backlog', target, ({ db: small }) =>
    onServer('claim from a backlog', target, async function* ({ db: large }) {
      const [few, many] = [1_000, sized(1_000_000, 20_000)];
      const tenants = sized(10_000, 1_000);
      await seed(small, { queue: 'jobs', jobs: few });
      await seed(small, { queue: 'tenants', jobs: 10 * tenants });
      await seed(large, { queue: 'jobs', jobs: many });
      await seed(large, { queue: 'tenants', jobs: 10 * tenants, tenants });
      const sides = { small, large };
      yield await compared(
        sides,
        { queue: 'jobs', count: 10 },
        `a backlog of ${round(many)}`,
        `a backlog of ${round(few)}`,
      );
      yield await compared(
        sides,
        { queue: 'tenants', count: 100 },
        `${round(tenants)} tenants`,
        'one tenant',
      );
      // The claimed jobs are gone from the first queue, and delayed jobs stand in the way of the remaining ones.
      await small.maintenance((sql) => sql`delete from jobs.job where queue = 'jobs'`);
      await large.maintenance(
        (sql) =>
          sql`update jobs.job set run_at = now() + interval '1 hour' where queue = 'jobs' and state = 'pending'`,
      );
      for (const db of [small, large]) await seed(db, { queue: 'jobs', jobs: few });
      yield await compared(
        sides,
        { queue: 'jobs', count: 10 },
        `${round(many)} delayed jobs besides`,
        'none delayed',
      );
    }),
  );
}

interface Seed {
  readonly queue: string;
  readonly jobs: number;
  readonly tenants?: number;
}

/** Stores jobs that are due. */
async function seed(db: Database, { queue, jobs, tenants = 1 }: Seed): Promise<void> {
  await db.maintenance(
    (sql) => sql`
      insert into jobs.job (
        tenant_id, id, app_id, name, queue, rank, payload, tags, max_attempts, run_at, timeout_ms, backoff_type, backoff_delay_ms,
        backoff_max_ms
      )
      select 'tenant-' || n % ${tenants}::integer, 'job_' || md5(${queue} || clock_timestamp() || n), 'default', 'nothing', ${queue}, 0, '{}', '{}', 5,
        now() - interval '1 second', 300000, 'exponential', 2000, 3600000
      from generate_series(1, ${jobs}::integer) as n`,
  );
  await analyze(db);
}

interface Sides {
  readonly small: Database;
  readonly large: Database;
}

async function compared(
  { small, large }: Sides,
  { queue, count }: { readonly queue: string; readonly count: number },
  what: string,
  baseline: string,
): Promise<Row> {
  const claims = 60;
  const times = { small: [] as number[], large: [] as number[] };
  const take = (sql: Sql) => claim(sql, { queue, count, leaseId: 'lease_bench', cursor: new Map() });
  for (let turn = 0; turn < claims; turn++)
    for (const [side, { background }] of [
      ['small', small],
      ['large', large],
    ] as const) {
      let claimed = 0;
      const time = await timed(async () => void (claimed = (await take(background)).jobs.length));
      if (claimed !== count) throw new Error(`${claimed} of ${count} jobs were claimed`);
      // The first claims of a connection are planned for their values.
      if (turn >= 10) times[side].push(time);
    }
  const [a, b] = [median(times.large), median(times.small)];
  return atMostTimes(a / b, 1.5, {
    path: `claim of ${count} jobs, ${what}`,
    baseline,
    measured: `${round(a)} ms against ${round(b)} ms`,
  });
}
