import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Database } from '../../../db/index.ts';
import { newId } from '../../../lib/ids.ts';
import type { Sealer } from '../../../lib/seal.ts';
import { type StreamRow, streamStore } from './streams.store.ts';

/** A stream with the key that hides its persons and resources. It never changes. */
export interface KnownStream {
  readonly id: string;
  readonly tenant: string;
  readonly app: string;
  readonly indexKey: KeyObject;
}

/** The streams that this process has met. */
export interface KnownStreams {
  /** The stream of a tenant and app, which is created when it is missing. */
  of(tenant: string, app: string): Promise<KnownStream>;
  /** The stream of a tenant and app, if something was recorded there. */
  find(tenant: string, app: string): Promise<KnownStream | undefined>;
  readonly known: (row: StreamRow) => KnownStream;
}

/** The purpose under which index keys are sealed. */
const purpose = 'audit/index/v1';
const mostKnown = 10_000;

export function createKnownStreams({
  db,
  sealer,
}: {
  readonly db: Database;
  readonly sealer: Sealer;
}): KnownStreams {
  const cache = new LRUCache<string, KnownStream>({ max: mostKnown });

  const known = ({ id, tenant_id, app_id, index_key }: StreamRow): KnownStream => {
    const stream = {
      id,
      tenant: tenant_id,
      app: app_id,
      indexKey: createSecretKey(sealer.open(purpose, tenant_id, index_key)),
    };
    cache.set(nameOf(tenant_id, app_id), stream);
    return stream;
  };

  async function find(tenant: string, app: string): Promise<KnownStream | undefined> {
    const cached = cache.get(nameOf(tenant, app));
    if (cached !== undefined) return cached;
    const row = await streamStore(db.sql).find(tenant, app);
    return row === undefined ? undefined : known(row);
  }

  return {
    known: (row) => cache.get(nameOf(row.tenant_id, row.app_id)) ?? known(row),
    find,
    async of(tenant, app) {
      const found = await find(tenant, app);
      if (found !== undefined) return found;
      const index_key = sealer.seal(purpose, tenant, randomBytes(32));
      await streamStore(db.sql).create({ id: newId('stream'), tenant_id: tenant, app_id: app, index_key });
      return (await find(tenant, app))!;
    },
  };
}

const nameOf = (tenant: string, app: string): string => `${tenant}\n${app}`;
