/** Reading objects, with verification, against nginx that serves the same bytes from files. */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { headers } from '../place.ts';
import { start, withServers } from '../process.ts';
import { atLeast, notMeasured, round, type Row } from '../row.ts';
import { paired } from '../statistics.ts';
import { type Connection, expectStatus, headOf, openConnection, transfersPerSecond } from './connection.ts';
import { createContent, kibibyte, mebibyte } from './content.ts';
import { pathOf, put, type Storage, withStorage } from './service.ts';

interface Compared {
  readonly path: string;
  readonly size: number;
  /** How many objects there are. */
  readonly count: number;
  readonly connections: number;
  readonly least: number;
}

const program = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/bin/nginx'].find((file) =>
  existsSync(file),
);

function compare(of: Compared): AsyncIterable<Row> {
  const { path, least } = of;
  return withStorage(path, `≥ ${least} ×`, async function* (storage) {
    if (program === undefined) {
      yield notMeasured(path, `≥ ${least} ×`, 'nginx is not installed here');
      return;
    }
    await fill(storage, of);
    const nginx = start('nginx', [storage.folder, program]);
    yield* withServers([nginx], (bare) => measured({ ours: storage.port, bare: bare.port }, of));
  });
}

async function* measured(ports: { ours: number; bare: number }, of: Compared): AsyncGenerator<Row> {
  const { path, size, count, connections, least } = of;
  let nth = 0;
  const asked = (heads: readonly Buffer[]) => async (connection: Connection) => {
    const answer = await connection.ask(heads[nth++ % count]!);
    expectStatus(answer, 200);
    if (answer.size !== size) throw new Error(`${answer.size} bytes instead of ${size}`);
  };
  const names = Array.from({ length: count }, (_, n) => `object-${n}`);
  const ours = asked(names.map((name) => headOf('GET', pathOf(name), headers)));
  const theirs = asked(names.map((name) => headOf('GET', `/${name}`, {})));
  const { ratio, a, b } = await paired(
    () => transfersPerSecond({ port: ports.ours, connections, transfer: ours }),
    () => transfersPerSecond({ port: ports.bare, connections, transfer: theirs }),
  );
  yield atLeast(ratio, least, {
    path,
    baseline: 'nginx serving the file',
    measured: `${round(a)}/s against ${round(b)}/s`,
  });
}

/** Stores the same contents on both sides. */
async function fill({ port, folder }: Storage, { size, count }: Compared): Promise<void> {
  const content = createContent(size);
  const files = join(folder, 'files');
  await mkdir(files);
  const connection = await openConnection(port);
  for (let n = 0; n < count; n++) {
    await put(connection, pathOf(`object-${n}`), content, n);
    await writeFile(join(files, `object-${n}`), Buffer.concat(content.pieces(n)));
  }
  connection.close();
}

export const getLarge = (): AsyncIterable<Row> =>
  compare({
    ...{ path: 'GET 1 MiB, every block verified, 8 connections', size: mebibyte, count: 64 },
    ...{ connections: 8, least: 0.6 },
  });

export const getSmall = (): AsyncIterable<Row> =>
  compare({
    ...{ path: 'GET 4 KiB, kept in the database, 32 connections', size: 4 * kibibyte, count: 500 },
    ...{ connections: 32, least: 0.4 },
  });
