import type { Sql } from '../../db/index.ts';
import type { Context } from '../../http/context.ts';
import { Forbidden } from '../../lib/errors.ts';
import { keyStore } from './keys.store.ts';
import { exceeding } from './validation/scopes.ts';

/**
 * Checks that callers grant only what they hold: only a caller whose own scopes cover a guarded scope may put it on a key or
 * reactivate a key that has it. Scopes are held in an app, so they do not apply to keys of another app.
 * @throws Forbidden
 */
export function checkMayGive(context: Context, scopes: readonly string[], app = context.app): void {
  const own = reaches(context, app);
  const [scope] = exceeding(scopes, (name) => own && context.holds(name));
  if (scope === undefined) return;
  if (own) throw Forbidden(`scope exceeds the caller's own: ${scope}`);
  throw Forbidden(`scope exceeds the caller's own, which are of another app than the key: ${scope}`);
}

/**
 * Checks that a caller may remove such scopes from a key, or from all keys that hold them. Disabling a whole key needs no such
 * right: a leaked key has to end, whoever notices the leak.
 * @throws Forbidden
 */
export const checkMayTake: typeof checkMayGive = checkMayGive;

/** Whether the caller may act for an app. Root acts for all apps of its tenant, and the operator for all apps. */
const reaches = ({ app, operator, credential: { kind } }: Context, of: string): boolean =>
  app === of || operator || kind === 'root' || kind === 'anonymous';

/** Checks that an API key does not raise its own rights, limits or expiry. @throws Forbidden */
export function checkNotItself(context: Context, keyId: string): void {
  if (context.credential.kind === 'key' && context.credential.id === keyId) {
    throw Forbidden('a key cannot extend itself');
  }
}

/** Checks the same for the key's own policy: widening the policy would raise the limits of the key. @throws Forbidden */
export async function checkNotItsPolicy(
  sql: Sql,
  { tenant, credential }: Context,
  policyId: string,
): Promise<void> {
  if (credential.kind !== 'key') return;
  const own = await keyStore(sql).policyOf(tenant, credential.id);
  if (own === policyId) throw Forbidden('a key cannot change its own policy');
}
