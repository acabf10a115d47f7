import { Forbidden } from '../lib/errors.ts';
import type { Context } from './context.ts';
import type { Operation } from './operation.ts';

type Scope = Pick<Context, 'tenant' | 'app' | 'operator'>;

/**
 * The check of an operation that a tenant or an app which a body or a query names is the caller's own, whether or not
 * the operation means it; only the operator may name others. Said before anything is looked up, so it tells nothing
 * about what exists. A service whose tenants or apps are resources of its own judges
 * `tenant_id` or `app_id` itself.
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
