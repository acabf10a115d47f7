import { Forbidden } from '../lib/errors.ts';
import type { Context } from './context.ts';
import type { Operation } from './operation.ts';

type Scope = Pick<Context, 'tenant' | 'app' | 'operator'>;

/**
 * Builds the check that a tenant or an app named in a body or a query is the caller's own, even when the operation ignores
 * the member; only the operator may name others. The check runs before any lookup, so it reveals nothing about what exists.
 * A service whose resources are tenants or apps checks `tenant_id` or `app_id` itself.
 */
export function scopeCheck({ ownTenants, ownApps }: Pick<Operation, 'ownTenants' | 'ownApps'>) {
  return (caller: Scope, named: unknown): void => {
    if (typeof named !== 'object' || named === null) return;
    const { tenant_id, app_id, scope_org_id, scope_app_id } = named as Record<string, unknown>;
    if ((tenant_id ?? app_id ?? scope_org_id ?? scope_app_id) === undefined) return;
    if (!ownTenants) check(caller, { tenant_id, scope_org_id }, caller.tenant);
    if (!ownApps) check(caller, { app_id, scope_app_id }, caller.app);
  };
}

/**
 * Does the same for the items of a list in a body, such as the jobs of a batch.
 * @param list the name of the list
 */
export function checkOwnItems(caller: Scope, list: string, items: readonly object[]): void {
  for (const [at, item] of items.entries()) {
    const { tenant_id, app_id, scope_org_id, scope_app_id } = item as Record<string, unknown>;
    check(caller, { tenant_id, scope_org_id }, caller.tenant, `${list}[${at}].`);
    check(caller, { app_id, scope_app_id }, caller.app, `${list}[${at}].`);
  }
}

function check({ operator }: Scope, named: Readonly<Record<string, unknown>>, own: string, place = ''): void {
  if (operator) return;
  for (const [name, id] of Object.entries(named))
    if (typeof id === 'string' && id !== own) throw Forbidden(`${place}${name}: not the caller's own`);
}
