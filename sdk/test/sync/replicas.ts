import { expect, onTestFinished } from 'vitest';
import { createClient } from '../../src/runtime/client.ts';
import { changesOf } from '../../src/services/sync/changes.ts';
import { infoOf } from '../../src/services/sync/info.ts';
import { presenceOf } from '../../src/services/sync/presence.ts';
import { viewOf, valueOf } from '../../src/sync/merge.ts';
import { memoryStorage } from '../../src/sync/replica/memory.ts';
import { openReplica } from '../../src/sync/replica/replica.ts';
import type { DroppedEdit, Replica, ReplicaOptions, ReplicaStatus } from '../../src/sync/replica/types.ts';
import type { FakeServer } from './fake-server.ts';

export interface Opened extends Replica {
  readonly dropped: DroppedEdit[];
  /** Begins, and waits until edits of others arrive as they are made. */
  live(): Promise<void>;
}

interface Given extends Partial<ReplicaOptions> {
  /** Its own clock. */
  readonly now?: () => number;
  readonly fetch?: (request: Request) => Promise<Response>;
}

export async function open(server: FakeServer, given: Given = {}): Promise<Opened> {
  const client = createClient({ baseUrl: 'http://server', fetch: given.fetch ?? server.fetch });
  const resources = { changes: changesOf(client), info: infoOf(client), presence: presenceOf(client) };
  const dropped: DroppedEdit[] = [];
  const options = {
    ...{
      tables: ['notes'],
      storage: memoryStorage(),
      onDropped: (edit: DroppedEdit) => void dropped.push(edit),
    },
    ...given,
  };
  const now = given.now ?? (() => server.now());
  const replica = await openReplica(resources, options, { now, random: () => 0.5, firstRetryMs: 1 });
  onTestFinished(() => replica.stop());
  const live = async () => {
    replica.start();
    await until(replica, ({ state }) => state === 'live');
  };
  return Object.assign(replica, { dropped, live });
}

/** Waits for a status. */
export const until = (replica: Replica, holds: (status: ReplicaStatus) => boolean): Promise<void> =>
  new Promise((resolve) => {
    if (holds(replica.status)) return resolve();
    const end = replica.onStatus((status) => {
      if (!holds(status)) return;
      end();
      resolve();
    });
  });

/** What a replica shows, by table and key. */
export async function shown(replica: Replica, tables = ['notes']): Promise<Record<string, unknown>> {
  const lists = await Promise.all(
    tables.map(async (table) =>
      (await replica.table(table).list()).map(({ pk, fields }) => [`${table}\n${pk}`, fields] as const),
    ),
  );
  return Object.fromEntries(lists.flat());
}

/** What the cells of the server show. */
export const shownBy = (server: FakeServer): Record<string, unknown> =>
  Object.fromEntries(
    [...server.cells()].flatMap(([key, cells]) => {
      const { fields } = viewOf(cells);
      if (fields.size === 0) return [];
      return [[key, Object.fromEntries([...fields].map(([name, field]) => [name, valueOf(field)]))]];
    }),
  );

export const eventually = <Result>(read: () => Result | Promise<Result>) =>
  expect.poll(read, { timeout: 20_000, interval: 5 });
