import type { Context } from '../../../http/context.ts';
import { checkMayChange } from '../directory/guarded-scopes.ts';
import { scopeStore } from '../directory/scopes.store.ts';
import type { Write } from '../directory/writes.ts';

/**
 * Nobody locks out, ends or takes over an account that holds more than they do in the app or any organization. Users may do all
 * of this to themselves.
 * @throws Forbidden
 */
export async function checkMayActOn(
  { sql, tenant }: Pick<Write, 'sql' | 'tenant'>,
  context: Pick<Context, 'holds' | 'session' | 'userId'>,
  userId: string,
): Promise<void> {
  const { session } = context;
  const inPerson = session !== null && session.impersonatedBy === null;
  if (inPerson && context.userId === userId) return;
  checkMayChange(context, 'user', await scopeStore(sql).anywhereOfUser(tenant, userId));
}
