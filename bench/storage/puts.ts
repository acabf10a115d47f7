/** Storing objects: large ones against a bare handler that makes a file as durable, short ones against one insert of the same bytes. */
import { start, withServers } from '../process.ts';
import { atLeast, round, type Row } from '../row.ts';
import { paired } from '../statistics.ts';
import { transfersPerSecond } from './connection.ts';
import { createContent, kibibyte, mebibyte } from './content.ts';
import { pathOf, put, putBare, withStorage } from './service.ts';

interface Compared {
  readonly path: string;
  readonly size: number;
  readonly connections: number;
  readonly least: number;
  readonly baseline: string;
}

/** Every content is new, so that none is recognised as stored already, and so is every key. */
async function* compare(ports: { ours: number; bare: number }, of: Compared): AsyncGenerator<Row> {
  const { path, connections, least, baseline } = of;
  const content = createContent(of.size);
  let [nth, bareNth] = [0, 0];
  const { ratio, a, b } = await paired(
    () =>
      transfersPerSecond({
        ...{ port: ports.ours, connections },
        transfer: (connection) => put(connection, pathOf(`object-${++nth}`), content, nth),
      }),
    () =>
      transfersPerSecond({
        ...{ port: ports.bare, connections },
        transfer: (connection) => putBare(connection, `/object-${++bareNth}`, content, bareNth),
      }),
  );
  yield atLeast(ratio, least, { path, baseline, measured: `${round(a)}/s against ${round(b)}/s` });
}

export function putLarge(): AsyncIterable<Row> {
  const path = 'PUT 1 MiB with all syncs, 8 connections';
  return withStorage(path, '≥ 0.75 ×', ({ port: ours, folder }) =>
    withServers([start('file-store', [folder])], ({ port: bare }) =>
      compare(
        { ours, bare },
        {
          ...{ path, size: mebibyte, connections: 8, least: 0.75 },
          baseline: '`node:http`: SHA-256, write, fdatasync, rename, sync of the directory',
        },
      ),
    ),
  );
}

export function putSmall(): AsyncIterable<Row> {
  const path = 'PUT 4 KiB, kept in the database, 32 connections';
  return withStorage(path, '≥ 0.5 ×', ({ port: ours, url }) =>
    withServers([start('insert-store', [url])], ({ port: bare }) =>
      compare(
        { ours, bare },
        {
          ...{ path, size: 4 * kibibyte, connections: 32, least: 0.5 },
          baseline: '`node:http` and a one-row insert of the same bytes',
        },
      ),
    ),
  );
}
