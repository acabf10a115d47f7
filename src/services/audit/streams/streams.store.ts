import type { Stream } from '../../../../generated/audit/types.ts';
import type { Sql } from '../../../db/index.ts';
import { byteArray } from '../byte-arrays.ts';
import { followsPrevious, onePage, type Window } from '../../../db/lists.ts';
import { isInView, type View } from '../../../db/view.ts';
import { NotFound } from '../../../lib/errors.ts';
import type { NewestById } from '../newest-by-id.ts';

/** A stream and how its persons and resources are hidden. */
export interface StreamRow {
  readonly id: string;
  readonly tenant_id: string;
  readonly app_id: string;
  /** Encrypted with the master key. */
  readonly index_key: Buffer;
}

/** The end of a stream, locked: who holds it numbers the next event. */
export interface Head {
  readonly id: string;
  readonly head_seq: number;
  readonly head_hash: Buffer;
  readonly head_at: string;
}

/** Every statement about streams. */
export const streamStore = (sql: Sql) => ({
  /** Creates a stream unless the tenant and app have one. */
  async create(stream: Omit<StreamRow, 'index_key'> & { readonly index_key: Uint8Array }): Promise<void> {
    await sql`
      insert into audit.streams (tenant_id, id, app_id, head_hash, index_key)
      values (${stream.tenant_id}, ${stream.id}, ${stream.app_id}, ${Buffer.alloc(32)}, ${Buffer.from(stream.index_key)})
      on conflict on constraint streams_app_key do nothing`;
  },

  /** The streams of a view, at most so many; the caller sees by their number that there are more. */
  async known(view: View, most: number): Promise<StreamRow[]> {
    return await sql<StreamRow[]>`
      select id, tenant_id, app_id, index_key from audit.streams where ${isInView(sql, view)} order by id limit ${most}`;
  },

  async find(tenant: string, app: string): Promise<StreamRow | undefined> {
    const [row] = await sql<StreamRow[]>`
      select id, tenant_id, app_id, index_key from audit.streams where tenant_id = ${tenant} and app_id = ${app}`;
    return row;
  },

  /** The number of the last event. */
  async headSeq(tenant: string, id: string): Promise<number> {
    const [row] = await sql<
      [{ head_seq: number }]
    >`select head_seq from audit.streams where tenant_id = ${tenant} and id = ${id}`;
    return row.head_seq;
  },

  async list(view: View, window: Window<NewestById>): Promise<Stream[]> {
    return await sql<Stream[]>`
      select ${shown(sql)} from audit.streams
      where ${isInView(sql, view)} ${followsPrevious(sql, window)} ${onePage(sql, window)}`;
  },

  /** @throws NotFound */
  async get(view: View, id: string): Promise<Stream> {
    const [row] = await sql<
      Stream[]
    >`select ${shown(sql)} from audit.streams where id = ${id} and ${isInView(sql, view)}`;
    if (row === undefined) throw NotFound('stream');
    return row;
  },

  /** Locks the ends of streams in the order of their ids, so that no two writes wait for each other. */
  async lock(ids: readonly string[]): Promise<Head[]> {
    return await sql<Head[]>`
      select id, head_seq, head_hash, head_at from audit.streams where id = any(${[...ids]}::text[]) order by id for update`;
  },

  /** Moves the ends of locked streams. */
  async advance(heads: readonly Head[]): Promise<void> {
    await sql`
      update audit.streams
      set head_seq = given.head_seq, head_hash = given.head_hash, head_at = given.head_at, updated_at = given.head_at
      from unnest(
        ${heads.map(({ id }) => id)}::text[], ${heads.map(({ head_seq }) => head_seq)}::bigint[],
        ${byteArray(
          sql,
          heads.map(({ head_hash }) => head_hash),
        )}::bytea[], ${heads.map(({ head_at }) => head_at)}::timestamptz[]
      ) as given(id, head_seq, head_hash, head_at)
      where streams.id = given.id`;
  },
});

const shown = (sql: Sql) => sql`
  id, app_id, tenant_id, head_seq, encode(head_hash, 'hex') as head_hash, created_at, updated_at`;
