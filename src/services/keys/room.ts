import { LRUCache } from 'lru-cache';
import { Conflict } from '../../lib/errors.ts';
import { keyStore } from './keys.store.ts';
import { tenantStore } from './tenants.store.ts';
import type { Write } from './writes.ts';

/** Whether a tenant may have one more key. */
export interface Room {
  /** @throws Conflict when it may not. */
  check(write: Write): Promise<void>;
}

/** For how long a count is believed. */
const ttl = 60_000;

/**
 * Counting a million keys takes longer than making one. So a count leaves a hundredth of what is free to this process,
 * for a minute, without another count: the last hundred are counted one by one, behind a lock that puts the creations
 * of the tenant in order.
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
