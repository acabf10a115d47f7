import { createFreshCache } from '../../../db/fresh-cache.ts';
import { UnitOfWork } from '../../../db/write.ts';
import { newId } from '../../../lib/ids.ts';
import type { Sealer } from '../../../lib/seal.ts';
import type { Deps } from '../deps.ts';
import { newDataKey, type VaultKeys, vaultKeysOf } from './cryptography.ts';
import { keyStore, type VaultKeyRow } from './keys.store.ts';

/** The living data key of a tenant, opened. */
export interface TenantKey {
  readonly id: string;
  readonly tenant: string;
  readonly keys: VaultKeys;
}

export interface TenantKeys {
  /** The living key of a tenant; undefined when it has none. */
  find(tenant: string): Promise<TenantKey | undefined>;
  /** The living key of a tenant, which gets one if it has none. A key known to be `destroyed` is not taken from memory. */
  obtain(tenant: string, destroyed?: string): Promise<TenantKey>;
  /** Opens a key as it is stored. */
  opened(row: VaultKeyRow): TenantKey;
}

const purpose = 'safety/vault/v1';
const keptTenants = 10_000;

/** The key of a tenant, as a subject of changes. */
export const keyOf = (tenant: string) => ({ kind: 'key', id: tenant });

/** The data keys of the tenants, each sealed by the master key. */
export function createTenantKeys({
  db,
  changes,
  sealer,
}: Pick<Deps, 'db' | 'changes'> & { readonly sealer: Sealer }): TenantKeys {
  const opened = ({ tenant_id: tenant, id, wrapped }: VaultKeyRow): TenantKey => ({
    ...{ id, tenant },
    keys: vaultKeysOf(sealer.open(purpose, tenant, wrapped)),
  });

  const cache = createFreshCache<string, TenantKey>({
    size: keptTenants,
    changes,
    keyOf: (tenant) => tenant,
    subjectsOf: ({ tenant }) => [keyOf(tenant)],
    read: async (wanted) => {
      const rows = await keyStore(db.sql).living(wanted);
      return new Map(rows.map((row) => [row.tenant_id, opened(row)]));
    },
  });

  const find = async (tenant: string) => cache.get(tenant) ?? (await cache.load(tenant));

  async function create(tenant: string): Promise<void> {
    await db.transaction(async (sql) => {
      const wrapped = sealer.seal(purpose, tenant, newDataKey());
      await keyStore(sql).insert({ tenant_id: tenant, id: newId('svk'), wrapped });
      const unit = new UnitOfWork(sql, { tenant, app: 'default', actor: 'system' }, 'safety');
      unit.changed(keyOf(tenant));
      await unit.settle({ log: changes });
    });
  }

  return {
    find,
    opened,
    async obtain(tenant, destroyed) {
      for (;;) {
        const known = cache.get(tenant);
        const key = known !== undefined && known.id !== destroyed ? known : await cache.load(tenant);
        if (key === undefined) await create(tenant);
        // A read that began before the destruction may still have seen it.
        else if (key.id !== destroyed) return key;
      }
    },
  };
}

/** Seals a data key anew by the current master key. */
export const rewrapped = (sealer: Sealer, { tenant_id, wrapped }: VaultKeyRow): Buffer =>
  sealer.seal(purpose, tenant_id, sealer.open(purpose, tenant_id, wrapped));
