import type { Stream } from '../../../../generated/audit/types.ts';
import type { Sql } from '../../../db/index.ts';
import { byteArray } from '../byte-arrays.store.ts';
import { followsPrevious, onePage, type Window } from '../../../db/lists.ts';
import { isInView, type View } from '../../../db/view.ts';
import { NotFound } from '../../../lib/errors.ts';
import type { SealedKey } from '../keys/sealed-keys.ts';
import type { NewestById } from '../newest-by-id.ts';

/** A stream and the key that hides its persons and resources. */
export interface StreamRow extends SealedKey {
  readonly id: string;
  readonly app_id: string;
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
  async create(stream: StreamRow): Promise<void> {
    await sql`
      insert into audit.streams (tenant_id, id, app_id, head_hash, index_key)
      values (${stream.tenant_id}, ${stream.id}, ${stream.app_id}, ${Buffer.alloc(32)}, ${stream.sealed})
      on conflict on constraint streams_app_key do nothing`;
  },

  /** The streams of a view, at most so many; the caller sees by their number that there are more. */
  async known(view: View, most: number): Promise<StreamRow[]> {
    return await sql<StreamRow[]>`
      select ${keyed(sql)} from audit.streams where ${isInView(sql, view)} order by id limit ${most}`;
  },

  async find(view: View, id: string): Promise<StreamRow | undefined> {
    const [row] = await sql<StreamRow[]>`
      select ${keyed(sql)} from audit.streams where id = ${id} and ${isInView(sql, view)}`;
    return row;
  },

  async findOf(tenant: string, app: string): Promise<StreamRow | undefined> {
    const [row] = await sql<StreamRow[]>`
      select ${keyed(sql)} from audit.streams where tenant_id = ${tenant} and app_id = ${app}`;
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

  /** Some of the streams whose keys the master key with this id sealed, in the order of the table, after one of them. */
  async sealedBy(masterKeyId: Buffer, after: StreamRow | undefined, most: number): Promise<StreamRow[]> {
    return await sql<StreamRow[]>`
      select ${keyed(sql)} from audit.streams
      where substring(index_key from 2 for 4) = ${masterKeyId}
        ${after === undefined ? sql`` : sql`and (tenant_id, id) > (${after.tenant_id}, ${after.id})`}
      order by tenant_id, id limit ${most}`;
  },

  /** Replaces sealed keys. Streams are locked in the order of their ids, so that no two writes wait for each other. */
  async replace(streams: readonly (StreamRow & { readonly anew: Buffer })[]): Promise<void> {
    const bytes = (of: (stream: (typeof streams)[number]) => Buffer) => byteArray(sql, streams.map(of));
    await sql`
      with held as materialized (
        select streams.id, given.anew
        from audit.streams join unnest(
          ${streams.map(({ id }) => id)}::text[], ${bytes(({ sealed }) => sealed)}::bytea[], ${bytes(({ anew }) => anew)}::bytea[]
        ) as given(id, sealed, anew) on streams.id = given.id and streams.index_key = given.sealed
        order by streams.id for update of streams
      )
      update audit.streams set index_key = held.anew from held where streams.id = held.id`;
  },
});

const keyed = (sql: Sql) => sql`id, tenant_id, app_id, index_key as sealed`;

const shown = (sql: Sql) => sql`
  id, app_id, tenant_id, head_seq, encode(head_hash, 'hex') as head_hash, created_at, updated_at`;
