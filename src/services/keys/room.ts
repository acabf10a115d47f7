import { LRUCache } from 'lru-cache';
import { Conflict } from '../../lib/errors.ts';
import { keyStore } from './keys.store.ts';
import { tenantStore } from './tenants.store.ts';
import type { Write } from './writes.ts';

/** Limits the number of keys of a tenant. */
export interface Room {
  /** Checks that the tenant may have one more key. @throws Conflict when it may not */
  check(write: Write): Promise<void>;
}

/** Milliseconds for which a count is trusted. */
const ttl = 60_000;

/**
 * Counting a million keys takes longer than creating one. So each count gives this process a hundredth of the free keys for a
 * minute without another count. The last hundred keys are counted one by one, under a lock that serialises the tenant's
 * creations.
 */
export function createRoom(most: number): Room {
  const free = new LRUCache<string, { left: number }>({ max: 10_000, ttl });
  return {
    async check({ sql, context: { tenant } }) {
      const share = free.get(tenant);
      if (share !== undefined && share.left-- > 0) return;
      await tenantStore(sql).lock(tenant);
      const count = await keyStore(sql).count(tenant, most);
      if (count >= most) throw Conflict(`a tenant has at most ${most} keys`);
      free.set(tenant, { left: Math.floor((most - count) / 100) });
    },
  };
}
