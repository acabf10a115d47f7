/** Whether statistics and lists cost more when a longer history is kept. */
import type { Database } from '../../src/db/index.ts';
import { deliveryStore } from '../../src/services/webhooks/deliveries/deliveries.store.ts';
import { statsStore } from '../../src/services/webhooks/deliveries/stats.store.ts';
import { newestById } from '../../src/services/webhooks/newest-by-id.ts';
import { analyze, onServer } from '../jobs/place.ts';
import { atMostTimes, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { median, timed } from '../statistics.ts';

const view = { app: 'default', tenant: 'acme' };
const target = '≤ 1.5 ×';

/** Each history is in a database of its own, and the reads alternate between both. */
export function history(): AsyncIterable<Row> {
  const [few, many] = [sized(10_000, 1_000), sized(1_000_000, 10_000)];
  const path = `with ${round(many)} deliveries kept`;
  return onServer(path, target, ({ db: short }) =>
    onServer(path, target, async function* ({ db: long }) {
      await seed(short, few);
      await seed(long, many);
      const window = { order: newestById, limit: 100, offset: 0, after: null };
      const reads = {
        '/stats': ({ sql }: Database) => statsStore(sql).counts(view),
        'a page of deliveries': ({ sql }: Database) => deliveryStore(sql).list(view, {}, window),
      };
      for (const [name, read] of Object.entries(reads)) {
        const times = { short: [] as number[], long: [] as number[] };
        for (let turn = 0; turn < sized(200, 20); turn++) {
          times.short.push(await timed(() => read(short)));
          times.long.push(await timed(() => read(long)));
        }
        const [a, b] = [median(times.long), median(times.short)];
        yield atMostTimes(a / b, 1.5, {
          path: `${name} ${path}`,
          baseline: `${round(few)} kept`,
          measured: `${round(a)} ms against ${round(b)} ms`,
        });
      }
    }),
  );
}

/** Stores ended deliveries in large statements, because a trigger counts them once per statement. */
async function seed(db: Database, count: number): Promise<void> {
  const step = 50_000;
  for (let from = 0; from < count; from += step)
    await db.maintenance(
      (sql) => sql`
        insert into webhooks.delivery_done (
          tenant_id, id, app_id, event_id, endpoint_id, event_type, state, attempt_count, max_attempts, last_status_code, created_at,
          updated_at, completed_at
        )
        select 'acme', 'del_' || lpad(n::text, 26, '0'), 'default', 'evt_' || lpad(n::text, 26, '0'), 'ep_bench', 'invoice.paid', 'delivered', 1,
          10, 200, now(), now(), now()
        from generate_series(${from}::integer, ${Math.min(from + step, count) - 1}::integer) as n`,
    );
  await analyze(db);
}
