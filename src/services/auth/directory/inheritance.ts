import { roleStore } from './roles.store.ts';
import type { Write } from './writes.ts';

/** Returns the scopes of a role, including inherited ones. */
export async function inheritedScopes({ sql, tenant, app }: Write, roleId: string): Promise<string[]> {
  const store = roleStore(sql);
  return store.scopes(tenant, await store.chain(tenant, app, roleId));
}
