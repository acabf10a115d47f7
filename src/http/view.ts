import type { View } from '../db/view.ts';
import type { Context } from './context.ts';

/**
 * Whose records a request reaches: the operator's reach all tenants of its app, or the one that the request names; everybody else's
 * reach the caller's own. The frame has already refused a foreign tenant that anybody else names.
 */
export const viewOf = (
  { operator, tenant, app }: Pick<Context, 'operator' | 'tenant' | 'app'>,
  named?: string,
): View => ({ app, tenant: operator ? named : tenant });
