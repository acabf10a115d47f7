import type { Sql } from '../../../db/index.ts';
import { shards } from './driver.ts';

export interface Meta {
  readonly store_id: string;
  /** The secret that signs links, sealed. */
  readonly link_key: Buffer;
}

/** Every statement about the store as a whole. */
export const metaStore = (sql: Sql) => ({
  async find(): Promise<Meta | undefined> {
    const [meta] = await sql<Meta[]>`select store_id, link_key from storage.meta`;
    return meta;
  },

  /** Returns what another process has created meanwhile, if there is one. */
  async create(storeId: string, linkKey: Buffer): Promise<Meta> {
    const [meta] = await sql<[Meta]>`
      insert into storage.meta as existing (store_id, link_key) values (${storeId}, ${linkKey})
      on conflict on constraint meta_pkey do update set store_id = existing.store_id
      returning store_id, link_key`;
    return meta;
  },

  /** The sealed secret of links, if the master key with this id sealed it. */
  async sealedBy(keyId: Buffer): Promise<Buffer | undefined> {
    const [meta] = await sql<Pick<Meta, 'link_key'>[]>`
      select link_key from storage.meta where substring(link_key from 2 for 4) = ${keyId}`;
    return meta?.link_key;
  },

  async reseal(known: Buffer, sealed: Buffer): Promise<void> {
    await sql`update storage.meta set link_key = ${sealed} where link_key = ${known}`;
  },

  /** The shard whose turn it is. */
  async nextShard(): Promise<number> {
    const [{ shard }] = await sql<[{ shard: number }]>`
      update storage.meta set next_shard = (next_shard + 1) % ${shards}
      returning (next_shard + ${shards - 1}) % ${shards} as shard`;
    return shard;
  },
});
