import { Forbidden } from '../lib/errors.ts';
import type { Context } from './context.ts';

/**
 * A tenant or an app that a body or a query names has to be the caller's own, whether or not the operation means it; only the
 * operator may name others. Said before anything is looked up, so it tells nothing about what exists.
 */
export function checkOwnScope(caller: Pick<Context, 'tenant' | 'app' | 'operator'>, named: unknown): void {
  if (typeof named !== 'object' || named === null) return;
  const { tenant_id: tenant, app_id: app } = named as Record<string, unknown>;
  if (tenant === undefined && app === undefined) return;
  if (typeof tenant === 'string' && tenant !== caller.tenant) refuse(caller, 'tenant_id');
  if (typeof app === 'string' && app !== caller.app) refuse(caller, 'app_id');
}

function refuse({ operator }: Pick<Context, 'operator'>, name: string): void {
  if (!operator) throw Forbidden(`${name}: not the caller's own`);
}
