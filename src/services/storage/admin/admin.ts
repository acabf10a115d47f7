import type { Admin } from '../../../../generated/storage/server.ts';
import type { Context } from '../../../http/context.ts';
import { Forbidden } from '../../../lib/errors.ts';
import type { Deps } from '../deps.ts';
import { defaultQuota } from '../usage.ts';
import { usageStore } from '../usage.store.ts';

type AdminDeps = Pick<Deps, 'db' | 'settings' | 'driver' | 'transfers'>;

/** Admin: storage statistics and the quotas of tenants. */
export const admin = ({ db, settings, driver, transfers }: AdminDeps) =>
  ({
    async stats({ scope }, { tenant, operator }) {
      if (scope === 'instance' && !operator) throw Forbidden('operator only');
      const counted = await usageStore(db.sql).stats(scope === 'instance' ? undefined : tenant);
      return { driver: driver.name, ...counted, active_transfers: transfers.active() };
    },

    getQuota: ({ tenant }) => usageStore(db.sql).quota(tenant, defaultQuota(settings)),

    async setQuota({ tenant, body: { quota_bytes, quota_objects } }) {
      await usageStore(db.sql).setQuota(tenant, { quota_bytes, quota_objects });
      return await usageStore(db.sql).quota(tenant, defaultQuota(settings));
    },
  }) satisfies Admin<Context>;
