import { Invalid } from '../../lib/errors.ts';
import { without } from './scope-names.ts';
import { scopeStore } from './scopes.store.ts';
import type { Write } from './writes.ts';

/** `on` rejects names that are not registered; `off` registers them. */
export type StrictScopes = 'on' | 'off';

/**
 * Ensures that the names are registered and stay so during the transaction: deleting a scope waits for the key that is given
 * the scope, and then removes it from that key too.
 * @throws Invalid naming the first unregistered name, when strict
 */
export async function register(
  { sql, context }: Write,
  names: readonly string[],
  strict: StrictScopes,
): Promise<void> {
  if (names.length === 0) return;
  const { tenant, app } = context;
  const scopes = scopeStore(sql);
  const missing = without(names, await scopes.hold(tenant, names));
  if (missing.length === 0) return;
  if (strict === 'on') throw Invalid(`scopes: ${missing[0]} is not registered`);
  await scopes.register(tenant, app, missing);
  await scopes.hold(tenant, missing);
}
