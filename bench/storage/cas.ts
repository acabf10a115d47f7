/** Storing content under its hash, half of it again and again, against the registry of Docker. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { start, withServers } from '../process.ts';
import { atLeast, atMost, notMeasured, round, type Row } from '../row.ts';
import { paired } from '../statistics.ts';
import { type Connection, expectStatus, headOf, transfersPerSecond } from './connection.ts';
import { type Content, createContent, mebibyte } from './content.ts';
import { base, put, putBare, withStorage } from './service.ts';

const path = 'PUT of 1 MiB under its hash, 50 % duplicates, 8 connections';
const target = '≥ 2 ×';
const connections = 8;

export function casPuts(): AsyncIterable<Row> {
  return withStorage(path, target, async function* ({ port, folder, dir }) {
    const registry = await start('docker-registry', [folder]).catch((error: Error) => error);
    if (registry instanceof Error) {
      yield notMeasured(path, target, `docker-registry does not start here: ${registry.message}`);
      return;
    }
    yield* withServers([Promise.resolve(registry)], (other) =>
      compare({ ours: port, other: other.port }, dir),
    );
  });
}

async function* compare(ports: { ours: number; other: number }, dir: string): AsyncGenerator<Row> {
  const content = createContent(mebibyte);
  const [ours, theirs] = [halfRepeated(), halfRepeated()];
  const { ratio, a, b } = await paired(
    () =>
      transfersPerSecond({
        ...{ port: ports.ours, connections },
        transfer: (connection) => put(connection, `${base}/cas?ref=bench`, content, ours.next()),
      }),
    () =>
      transfersPerSecond({
        ...{ port: ports.other, connections },
        transfer: (connection) => push(connection, content, theirs.next()),
      }),
  );
  yield atLeast(ratio, 2, {
    path,
    baseline: 'docker-registry, upload in two requests',
    measured: `${round(a)}/s against ${round(b)}/s`,
  });
  const surplus = (await bytesIn(join(dir, 'blobs'))) - ours.distinct() * content.size;
  yield atMost(Math.abs(surplus), 0, {
    path: `${path}: bytes on the disk besides those of distinct contents`,
    unit: 'bytes',
    measured: `${round(ours.distinct())} distinct contents`,
  });
}

/** Numbers of contents, of which every other one was there a while ago. */
function halfRepeated() {
  let turn = 0;
  const lag = 4 * connections;
  return {
    next(): number {
      const nth = turn++;
      return nth % 2 === 1 && nth > lag ? (nth - 1 - lag) / 2 : Math.ceil(nth / 2);
    },
    distinct: () => Math.ceil(turn / 2),
  };
}

/** Stores a blob as clients of Docker do: one request begins the upload, the other one has the bytes. */
async function push(connection: Connection, content: Content, n: number): Promise<void> {
  const begun = await connection.ask(headOf('POST', '/v2/bench/blobs/uploads/', { 'Content-Length': 0 }));
  expectStatus(begun, 202);
  const [, location] = /^location: (?:http:\/\/[^/]+)?(\S+)\r?$/im.exec(begun.head)!;
  await putBare(connection, `${location}&digest=sha256:${content.digest(n)}`, content, n);
}

async function bytesIn(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = files
    .filter((file) => file.isFile())
    .map((file) => stat(join(file.parentPath, file.name)).then(({ size }) => size));
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
