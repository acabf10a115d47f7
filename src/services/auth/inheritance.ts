import { roleStore } from './roles.store.ts';
import type { Write } from './writes.ts';

/** The scopes of a role and of what it inherits from. */
export async function inheritedScopes({ sql, tenant, app }: Write, roleId: string): Promise<string[]> {
  const store = roleStore(sql);
  return store.scopes(tenant, await store.chain(tenant, app, roleId));
}
