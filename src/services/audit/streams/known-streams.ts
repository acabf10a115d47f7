import { LRUCache } from 'lru-cache';
import type { Database } from '../../../db/index.ts';
import type { Sweep } from '../../../db/sweeps.ts';
import { newId } from '../../../lib/ids.ts';
import type { Sealer } from '../../../lib/seal.ts';
import { newSealedKey, openedKey, type SealDeps, sealSweeps } from '../keys/sealed-keys.ts';
import type { MacKey } from '../record/mac-key.ts';
import { type StreamRow, streamStore } from './streams.store.ts';

/** A stream with the key that hides its persons and resources. It never changes. */
export interface KnownStream {
  readonly id: string;
  readonly tenant: string;
  readonly app: string;
  readonly indexKey: MacKey;
}

/** The streams that this process has met. */
export interface KnownStreams {
  /** The stream of a tenant and app, which is created when it is missing. */
  of(tenant: string, app: string): Promise<KnownStream>;
  /** The stream of a tenant and app, if something was recorded there. */
  find(tenant: string, app: string): Promise<KnownStream | undefined>;
  readonly known: (row: StreamRow) => KnownStream;
}

const purpose = 'audit/index/v1';
const mostKnown = 10_000;
/** A stream whose row was removed is forgotten after so long, and the next event begins another one. */
const knownMs = 60_000;

export function createKnownStreams({
  db,
  sealer,
}: {
  readonly db: Database;
  readonly sealer: Sealer;
}): KnownStreams {
  const cache = new LRUCache<string, KnownStream>({ max: mostKnown, ttl: knownMs });

  const known = (row: StreamRow): KnownStream => {
    const { id, tenant_id: tenant, app_id: app } = row;
    const stream = { id, tenant, app, indexKey: openedKey(sealer, purpose, row) };
    cache.set(nameOf(tenant, app), stream);
    return stream;
  };

  async function find(tenant: string, app: string): Promise<KnownStream | undefined> {
    const cached = cache.get(nameOf(tenant, app));
    if (cached !== undefined) return cached;
    const row = await streamStore(db.sql).findOf(tenant, app);
    return row === undefined ? undefined : known(row);
  }

  return {
    known: (row) => cache.get(nameOf(row.tenant_id, row.app_id)) ?? known(row),
    find,
    async of(tenant, app) {
      const found = await find(tenant, app);
      if (found !== undefined) return found;
      const sealed = newSealedKey(sealer, purpose, tenant);
      await streamStore(db.sql).create({ id: newId('stream'), tenant_id: tenant, app_id: app, sealed });
      return (await find(tenant, app))!;
    },
  };
}

/** Seals the index keys anew after a change of the master key. */
export const indexKeySweeps = ({ db, ...deps }: SealDeps & { readonly db: Database }): Sweep[] =>
  sealSweeps('audit.index_keys', deps, { purpose, ...streamStore(db.background) });

const nameOf = (tenant: string, app: string): string => `${tenant}\n${app}`;
