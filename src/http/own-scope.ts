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
    const { tenant_id: tenant, app_id: app } = named as Record<string, unknown>;
    if (tenant === undefined && app === undefined) return;
    if (!ownTenants && typeof tenant === 'string' && tenant !== caller.tenant) refuse(caller, 'tenant_id');
    if (!ownApps && typeof app === 'string' && app !== caller.app) refuse(caller, 'app_id');
  };
}

function refuse({ operator }: Scope, name: string): void {
  if (!operator) throw Forbidden(`${name}: not the caller's own`);
}
