/** Completing uploads: the parts become an object without a byte being moved, so only their number counts. */
import { call } from '../client.ts';
import { atMost, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { median, timed } from '../statistics.ts';
import { openConnection } from './connection.ts';
import { type Content, createContent, mebibyte } from './content.ts';
import { base, bucket, put, type Storage, withStorage } from './service.ts';

const uploads = `${base}/buckets/${bucket}/uploads`;

interface Completed {
  readonly size: number;
}

/** Sends parts over several connections and returns the milliseconds of the completion. */
async function completion(port: number, content: Content, parts: number): Promise<number> {
  const { id } = await call<{ id: string }>(port, 'POST', uploads, { key: 'film' });
  let sent = 0;
  const senders = Array.from({ length: Math.min(parts, 8) }, async () => {
    const connection = await openConnection(port);
    while (sent < parts) {
      const number = ++sent;
      await put(connection, `${uploads}/${id}/parts/${number}`, content, nth++);
    }
    connection.close();
  });
  await Promise.all(senders);
  let completed: Completed | undefined;
  const ms = await timed(async () => {
    completed = await call<Completed>(port, 'POST', `${uploads}/${id}/complete`, {});
  });
  if (completed?.size !== parts * content.size) throw new Error('the object is not as long as its parts');
  return ms;
}

let nth = 0;

export function completeFew(): AsyncIterable<Row> {
  const path = 'complete an upload of 8 parts of 8 MiB';
  return withStorage(path, '≤ 20 ms', async function* ({ port }) {
    const content = createContent(8 * mebibyte);
    yield atMost(await typical(port, content, 8, sized(15, 3)), 20, { path, unit: 'ms' });
  });
}

/** The parts are small: how many bytes they have is nothing to a completion. */
export function completeMany(): AsyncIterable<Row> {
  const parts = sized(10_000, 1_000);
  const path = `complete an upload of ${round(parts)} parts`;
  return withStorage(path, '≤ 500 ms', async function* ({ port, db }: Storage) {
    const content = createContent(64);
    const first = await completion(port, content, parts);
    await db.maintenance(
      (sql) => sql`analyze storage.parts, storage.blobs, storage.objects, storage.segments`,
    );
    const later = await typical(port, content, parts, sized(3));
    yield atMost(later, 500, { path, unit: 'ms', measured: `${round(first)} ms in a new database` });
  });
}

async function typical(port: number, content: Content, parts: number, turns: number): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < turns; turn++) times.push(await completion(port, content, parts));
  return median(times);
}
