/** Whether statistics cost more when more scans are kept: they add up hours, and scans only at the two ends of a period. */
import type { Database } from '../../src/db/index.ts';
import { countedOf } from '../../src/services/safety/scans/periods.ts';
import { statsStore } from '../../src/services/safety/scans/stats.store.ts';
import { analyze, onServer } from '../jobs/place.ts';
import { atMost, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { median, timed } from '../statistics.ts';

const dayMs = 86_400_000;
const days = 30;

/** Both tenants have scans in the same hours, and the reads alternate between them. */
export function statistics(): AsyncIterable<Row> {
  const [few, many] = [sized(10_000, 1_000), sized(10_000_000, 20_000)];
  const path = `statistics of ${round(many)} scans`;
  return onServer(path, '≤ 20 ms', async function* ({ db }) {
    const now = Date.now();
    for (const [tenant, count] of [
      ['few', few],
      ['many', many],
    ] as const)
      await seed(db, tenant, count);
    await analyze(db);
    const read = (tenant: string) => {
      // Within the hours that are kept, so that both ends are counted.
      const period = countedOf({ from: now - (days - 1) * dayMs, to: now }, now - days * dayMs);
      return statsStore(db.sql).count({ tenant, ...period });
    };
    const times = { few: [] as number[], many: [] as number[] };
    for (let turn = 0; turn < sized(200, 20); turn++)
      for (const tenant of ['few', 'many'] as const) times[tenant].push(await timed(() => read(tenant)));
    const [a, b] = [median(times.many), median(times.few)];
    const baseline = `statistics of ${round(few)} scans`;
    yield atMost(a, 20, { path, unit: 'ms', baseline, measured: `against ${round(b)} ms` });
  });
}

/** Stores scans that are spread over the days, and their counters. Ids begin with the time, as those of real scans. */
async function seed(db: Database, tenant: string, count: number): Promise<void> {
  const step = 200_000;
  for (let from = 0; from < count; from += step)
    await db.maintenance(
      (sql) => sql`
        with given as (
          select n, now() - (n::float8 / ${count}) * ${days} * interval '1 day' as at
          from generate_series(${from}::integer, ${Math.min(from + step, count) - 1}::integer) as n
        ),
        counted as (
          insert into safety.scan_count as existing (tenant_id, hour, direction, decision, slot, n)
          select ${tenant}, date_trunc('hour', at), 'input', 'allow', 0, count(*) from given group by 2
          on conflict on constraint scan_count_pkey do update set n = existing.n + excluded.n
        )
        insert into safety.scan (tenant_id, id, direction, decision, user_id, profile_used, body)
        select ${tenant}, 'scan_' || (
          select string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', ((ms >> (45 - 5 * digit)) & 31)::integer + 1, 1), '' order by digit)
          from generate_series(0, 9) as digit
        ) || lpad(n::text, 16, '0'), 'input', 'allow', '', 'default', '{}'
        from (select n, (extract(epoch from at) * 1000)::bigint as ms from given) as timed`,
    );
}
