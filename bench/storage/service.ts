/** The set-up that the measurements of the storage share. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { call } from '../client.ts';
import { onServer, type Opened } from '../jobs/place.ts';
import { headers } from '../place.ts';
import { type Running, withServers } from '../process.ts';
import type { Row } from '../row.ts';
import { type Connection, expectStatus, headOf } from './connection.ts';
import type { Content } from './content.ts';

export const bucket = 'bench';
/** A server with all services has each of them below its name. */
export const base = '/storage/store/v1';
const octets = 'application/octet-stream';

/** A running service with a bucket, and a folder for the files of both sides, on one file system. */
export interface Storage extends Opened {
  readonly port: number;
  readonly folder: string;
  /** Where the service keeps its bytes. */
  readonly dir: string;
}

/** Runs `use` on a new service with all syncs. */
export function withStorage(
  path: string,
  target: string,
  use: (storage: Storage) => AsyncIterable<Row>,
  env: Readonly<Record<string, string>> = {},
): AsyncIterable<Row> {
  return onServer(path, target, async function* (opened) {
    const folder = await mkdtemp(join(tmpdir(), 'plinth-bench-files-'));
    try {
      const dir = join(folder, 'plinth');
      const server = opened.place.serve({ PLINTH_STORAGE_DIR: dir, ...env });
      yield* withServers([server], async function* ({ port }: Running) {
        await call(port, 'POST', `${base}/buckets`, { name: bucket });
        yield* use({ ...opened, port, folder, dir });
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}

export const pathOf = (key: string) => `${base}/buckets/${bucket}/objects/${key}`;

/** Sends content to a path of the service. */
export async function put(connection: Connection, path: string, content: Content, n: number): Promise<void> {
  const head = headOf('PUT', path, { ...headers, 'Content-Type': octets, 'Content-Length': content.size });
  expectStatus(await connection.ask(head, ...content.pieces(n)), 200, 201);
}

/** Sends content to a path of a server that asks for no credentials. */
export async function putBare(
  connection: Connection,
  path: string,
  content: Content,
  n: number,
): Promise<void> {
  const head = headOf('PUT', path, { 'Content-Type': octets, 'Content-Length': content.size });
  expectStatus(await connection.ask(head, ...content.pieces(n)), 201);
}
