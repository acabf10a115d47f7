import { Forbidden, Invalid } from '../lib/errors.ts';
import type { Context } from './context.ts';
import type { Operation } from './operation.ts';

type Scope = Pick<Context, 'tenant' | 'app' | 'operator'>;

/**
 * Builds the check that a tenant or an app named in a body or a query is the caller's own; where the operation takes the
 * member, the operator may name others. The check runs before any lookup, so it reveals nothing about what exists.
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

/** Members that name a tenant or an app, with the header by which the operator chooses another one. */
const scopeMembers: ReadonlyMap<string, { readonly of: 'tenant' | 'app'; readonly header: string }> = new Map(
  [
    ['tenant_id', { of: 'tenant', header: 'X-Tenant-ID' }],
    ['scope_org_id', { of: 'tenant', header: 'X-Tenant-ID' }],
    ['app_id', { of: 'app', header: 'X-App-ID' }],
    ['scope_app_id', { of: 'app', header: 'X-App-ID' }],
  ],
);

export const isScopeMember = (name: string): boolean => scopeMembers.has(name);

/** The error for a tenant or an app in a place where the operation takes none; undefined for other members. */
export function notTaken(name: string, place = '') {
  const found = scopeMembers.get(name);
  return found && Invalid(`${place}${name}: is not taken here; name the ${found.of} with ${found.header}`);
}

/**
 * Checks a member that an operation does not take: a tenant or an app that is not the one in which the caller acts would be
 * named in vain, and what was meant for it would happen elsewhere.
 */
export function checkUntaken(caller: Scope, name: string, value: unknown, place: string): void {
  const found = scopeMembers.get(name);
  if (!found || value === caller[found.of]) return;
  throw caller.operator ? notTaken(name, place)! : Forbidden(`${place}${name}: not the caller's own`);
}
