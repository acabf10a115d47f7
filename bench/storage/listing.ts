/** Listing a bucket with a million keys, against statements that read the same rows. */
import type { Database } from '../../src/db/index.ts';
import { analyze } from '../jobs/place.ts';
import { headers } from '../place.ts';
import { atLeast, atMostTimes, forOrientation, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { median, paired, quantile, timed } from '../statistics.ts';
import { type Connection, expectStatus, headOf, openConnection } from './connection.ts';
import { fill, folderName, folders } from './million.ts';
import { base, bucket, withStorage } from './service.ts';

const ofPage = 1_000;

export function listing(): AsyncIterable<Row> {
  const keys = sized(1_000_000, 20_000);
  const path = `list ${round(ofPage)} of ${round(keys)} keys`;
  return withStorage(path, '≥ 0.5 ×', async function* (storage) {
    await fill(storage.db, keys);
    await analyze(storage.db);
    const connection = await openConnection(storage.port);
    yield* pages(storage.db, connection, path);
    yield* groups(storage.db, connection, `list ${round(folders)} folders of ${round(keys)} keys`);
    connection.close();
  });
}

/** Asks for a page, and checks only that it is as long as it must be: the statements are compared with the service, not with its client. */
async function list(connection: Connection, query: string, leastBytes: number): Promise<void> {
  const answer = await connection.ask(headOf('GET', `${base}/buckets/${bucket}/objects?${query}`, headers));
  expectStatus(answer, 200);
  if (answer.size < leastBytes) throw new Error(`a page of only ${answer.size} bytes`);
}

async function* pages(db: Database, connection: Connection, path: string): AsyncGenerator<Row> {
  const places = { start: '', middle: folderName(folders / 2) };
  const page = (place: keyof typeof places) =>
    list(connection, `limit=${ofPage}&start_after=${encodeURIComponent(places[place])}`, ofPage * 150);
  for (const place of ['start', 'middle'] as const) {
    const { ratio, a, b } = await paired(
      () => typical(() => scan(db, places[place])),
      () => typical(() => page(place)),
    );
    yield atLeast(ratio, 0.5, {
      path: `${path}, ${place === 'start' ? 'at the start' : 'in the middle'}`,
      baseline: 'a range scan and `JSON.stringify`',
      measured: `${round(b)} ms against ${round(a)} ms`,
    });
  }
  const times = { start: [] as number[], middle: [] as number[] };
  for (let turn = 0; turn < sized(1_000, 50); turn++)
    for (const place of ['start', 'middle'] as const) times[place].push(await timed(() => page(place)));
  const [start, middle] = [quantile(times.start, 0.99), quantile(times.middle, 0.99)];
  yield atMostTimes(middle / start, 1.2, {
    path: `${path}, in the middle, p99`,
    baseline: 'at the start, p99',
    measured: `${round(middle)} ms against ${round(start)} ms`,
  });
}

/** The statement that groups has to read every key; a page of keys is shown for orientation, because its rows are neighbours. */
async function* groups(db: Database, connection: Connection, path: string): AsyncGenerator<Row> {
  const page = () => list(connection, `limit=${ofPage}&delimiter=/`, folders * 15);
  const all = await paired(
    () => timed(() => grouped(db)),
    () => typical(page),
    3,
  );
  const measured = ({ a, b }: { a: number; b: number }) => `${round(b)} ms against ${round(a)} ms`;
  yield atLeast(all.ratio, 0.5, { path, baseline: 'a range scan that groups', measured: measured(all) });
  const rows = await paired(
    () => typical(() => scan(db, '')),
    () => typical(page),
    3,
  );
  yield forOrientation(rows.ratio, {
    path,
    baseline: 'a range scan of 1,000 keys',
    measured: measured(rows),
  });
}

/** The milliseconds of a typical call. */
async function typical(run: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < sized(100, 10); turn++) times.push(await timed(run));
  return median(times);
}

async function scan({ sql }: Database, after: string): Promise<void> {
  const rows = await sql`
    select key, size, last_modified, etag, content_type from storage.objects
    where tenant_id = 'default' and bucket_id = (select id from storage.buckets where name = ${bucket}) and key > ${after}
    order by key limit ${ofPage}`;
  JSON.stringify(rows);
}

async function grouped({ sql }: Database): Promise<void> {
  const rows = await sql`
    select distinct substr(key, 1, strpos(key, '/')) as folder from storage.objects
    where tenant_id = 'default' and bucket_id = (select id from storage.buckets where name = ${bucket})
    order by folder limit ${ofPage}`;
  JSON.stringify(rows);
}
