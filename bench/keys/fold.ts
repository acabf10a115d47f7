/** The fold of a million usage records against COPY of the same rows into the same table. */
import { pipeline } from 'node:stream/promises';
import type { Readable, Writable } from 'node:stream';
import type { Database } from '../../src/db/index.ts';
import { createFold } from '../../src/services/keys/validation/fold.ts';
import { withPlace } from '../place.ts';
import { atLeast, figureAtLeast, notMeasured, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { timed } from '../statistics.ts';
import { seedKeys } from './data.ts';

export function fold(): AsyncIterable<Row> {
  return withPlace(async function* (place) {
    const records = sized(1_000_000, 20_000);
    const path = `fold of ${round(records)} usage records`;
    if (place.url === undefined) {
      yield notMeasured(path, '≥ 0.3 ×', 'the embedded database has no COPY');
      return;
    }
    yield* await place.use(async (db) => {
      await seedKeys(db, { free: sized(10_000, 1_000), limited: 0 });
      const insertAndFold = async () => {
        await seedJournal(db, records);
        return records / (await timed(() => createFold(db).now()));
      };
      const folded = await insertAndFold();
      const copied = records / (await copyAgain(db, records));
      return [
        atLeast(folded / copied, 0.3, {
          path,
          baseline: 'COPY into the same table',
          measured: `${round(folded * 1_000)}/s against ${round(copied * 1_000)}/s`,
        }),
        figureAtLeast(folded * 1_000, 10_000, { path, unit: 'records/s' }),
      ];
    });
  });
}

/** Creates rows of 50 records each, like the commits of a busy server, in order of time. */
async function seedJournal(db: Database, records: number): Promise<void> {
  await db.maintenance(async (sql) => {
    await sql`select keys.add_usage_partition((now() at time zone 'UTC')::date + day) from generate_series(-1, 1) as day`;
    await sql`
      insert into keys.usage_journal (rows, counts)
      select
        json_agg(json_build_object(
          'id', 'kuse_' || lpad(n::text, 26, '0'), 'key_id', k.id, 'tenant_id', 'default', 'source', 'validation',
          'outcome', 'VALID', 'cost', 1, 'method', 'GET', 'endpoint', '/v1/reports', 'status_code', null,
          'latency_ms', null, 'ip_address', '203.0.113.7', 'origin', null, 'user_agent', 'curl/8.5.0',
          'created_at', to_char(at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        )),
        '[]'
      from generate_series(0, ${records - 1}::int) n
      join (select id, row_number() over () - 1 as place, count(*) over () as all_keys from keys.keys) k
        on k.place = (n::bigint * 7919) % k.all_keys
      cross join lateral (select now() - (${records}::int - n) * interval '0.1 millisecond' as at) moment
      group by n / 50
      order by n / 50`;
  });
}

/** Returns the milliseconds of a COPY of the folded rows into the emptied table. */
async function copyAgain(db: Database, records: number): Promise<number> {
  return db.maintenance(async (sql) => {
    const chunks: Buffer[] = [];
    const out: Readable = await sql`copy (select * from keys.usage) to stdout`.readable();
    for await (const chunk of out) chunks.push(chunk as Buffer);
    await sql`truncate keys.usage`;
    const time = await timed(async () => {
      const into: Writable = await sql`copy keys.usage from stdin`.writable();
      await pipeline(chunks, into);
    });
    const [{ count }] = await sql<[{ count: number }]>`select count(*) from keys.usage`;
    if (count !== records) throw new Error(`${count} of ${records} records were folded and copied`);
    return time;
  });
}
