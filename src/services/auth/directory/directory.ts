import { LRUCache } from 'lru-cache';
import type { Changes } from '../../../db/changes.ts';
import type { Database } from '../../../db/index.ts';
import { directoryStore, type KnownApp } from './directory.store.ts';

export type { KnownApp } from './directory.store.ts';

/** Maps tags, ids and keys to their tenant and app, from memory when possible. */
export interface Directory {
  /** Returns the tenant whose tokens carry the tag. */
  tenantOf(tag: string): Promise<string | undefined>;
  /** Returns the tag of a tenant's tokens; creates it if the tenant has none. */
  tagOf(tenant: string): Promise<string>;
  app(id: string): Promise<KnownApp | undefined>;
  appOfKey(publishableKey: string): Promise<KnownApp | undefined>;
  defaultApp(tenant: string): Promise<KnownApp | undefined>;
}

/** Tags never change, so they stay cached; an app is read again after a change of any app. */
export function createDirectory({
  db,
  changes,
}: {
  db: Database;
  changes: Pick<Changes, 'position' | 'isCurrent' | 'subscribe'>;
}): Directory {
  const store = directoryStore(db.sql);
  const tenants = new LRUCache<string, string>({ max: 10_000 });
  const tags = new LRUCache<string, string>({ max: 10_000 });
  const apps = new LRUCache<string, { app: KnownApp; position: number }>({ max: 10_000 });

  async function known(key: string, read: () => Promise<KnownApp | undefined>) {
    const kept = apps.get(key);
    if (kept && changes.isCurrent(kept.position, [{ kind: 'app', id: kept.app.id }])) return kept.app;
    const position = changes.position();
    const app = await read();
    if (app) apps.set(key, { app, position });
    else apps.delete(key);
    return app;
  }

  return {
    async tenantOf(tag) {
      const kept = tenants.get(tag) ?? (await store.tenantOf(tag));
      if (kept !== undefined) tenants.set(tag, kept);
      return kept;
    },
    async tagOf(tenant) {
      const tag = tags.get(tenant) ?? (await store.tagOf(tenant));
      tags.set(tenant, tag);
      return tag;
    },
    app: (id) => known(`app ${id}`, () => store.app(id)),
    appOfKey: (key) => known(`key ${key}`, () => store.appOfKey(key)),
    defaultApp: (tenant) => known(`default ${tenant}`, () => store.defaultApp(tenant)),
  };
}
