/** What others notice of a bucket with a million objects that is deleted: the same clients store content in another bucket of the tenant. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../src/db/index.ts';
import { call } from '../client.ts';
import { atLeast, notMeasured, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { transfersPerSecond } from './connection.ts';
import { createContent, kibibyte } from './content.ts';
import { fill } from './million.ts';
import { base, bucket, put, withStorage } from './service.ts';

const target = '≥ 0.8 ×';

export function emptying(): AsyncIterable<Row> {
  const keys = sized(1_000_000, 20_000);
  const path = `PUT 4 KiB, 8 connections, while another bucket of ${round(keys)} objects is emptied`;
  return withStorage(path, target, async function* ({ port, db }) {
    await call(port, 'POST', `${base}/buckets`, { name: 'other' });
    await fill(db, keys);
    await count(db, keys);
    const content = createContent(4 * kibibyte);
    let nth = 0;
    const storing = (seconds: number) =>
      transfersPerSecond({
        ...{ port, connections: 8, seconds },
        transfer: (connection) => put(connection, `${base}/buckets/other/objects/${++nth}`, content, nth),
      });
    await storing(2);
    const before = await storing(6);
    await call(port, 'DELETE', `${base}/buckets/${bucket}?force=true`);
    while ((await left(db)) === keys) await delay(20);
    const began = await left(db);
    const meanwhile = await storing(6);
    const after = await left(db);
    if (after === 0) yield notMeasured(path, target, 'the bucket was empty before the measurement ended');
    else
      yield atLeast(meanwhile / before, 0.8, {
        path,
        baseline: 'before it is deleted',
        measured: `${round(meanwhile)}/s against ${round(before)}/s, ${round((began - after) / 6)} objects/s deleted`,
      });
  });
}

/** The objects were not put by requests, so that nobody has counted them. */
async function count({ sql }: Database, keys: number): Promise<void> {
  await sql`
    update storage.usage set objects = objects + ${keys}::bigint
    where bucket_id in ('', (select id from storage.buckets where name = ${bucket}))`;
}

/** How many objects are left in buckets that are being emptied. */
async function left({ sql }: Database): Promise<number> {
  const [row] = await sql<[{ objects: number }]>`
    select coalesce(sum(objects), 0)::int as objects from storage.usage join storage.buckets
      on buckets.tenant_id = usage.tenant_id and buckets.id = usage.bucket_id
    where name is null`;
  return row.objects;
}
