import type { Sql } from '../../db/index.ts';
import type { Context } from '../../http/context.ts';
import { Forbidden } from '../../lib/errors.ts';
import { keyStore } from './keys.store.ts';
import { exceeding } from './validation/scopes.ts';

/**
 * No one gives what they do not hold: scopes that open the platform are put on a key, or come alive again with it, only
 * by a caller whose own scopes cover them.
 * @throws Forbidden
 */
export function checkMayGive(context: Context, scopes: readonly string[]): void {
  const [scope] = exceeding(scopes, (name) => context.holds(name));
  if (scope !== undefined) throw Forbidden(`scope exceeds the caller's own: ${scope}`);
}

/**
 * An API key cannot raise its own rights, limits or expiry.
 * @throws Forbidden
 */
export function checkNotItself(context: Context, keyId: string): void {
  if (context.credential.kind === 'key' && context.credential.id === keyId) {
    throw Forbidden('a key cannot extend itself');
  }
}

/**
 * The same for the policy that limits it: widening it would raise the limits of the key.
 * @throws Forbidden
 */
export async function checkNotItsPolicy(
  sql: Sql,
  { tenant, credential }: Context,
  policyId: string,
): Promise<void> {
  if (credential.kind !== 'key') return;
  const own = await keyStore(sql).policyOf(tenant, credential.id);
  if (own === policyId) throw Forbidden('a key cannot change its own policy');
}
