import type { Sql } from '../../../db/index.ts';
import type { Context } from '../../../http/context.ts';
import { Unauthenticated } from '../../../lib/errors.ts';
import type { Deps } from './deps.ts';
import { NotFresh } from '../errors.ts';
import { sessionStore } from './sessions.store.ts';

/**
 * Admits only sessions that the database knows as live and, if the settings require it, whose user authenticated recently. Root,
 * who acts for a user, is admitted by the root token.
 */
export async function requireFresh(
  { settings }: Pick<Deps, 'settings'>,
  sql: Sql,
  { tenant, session }: Pick<Context, 'tenant' | 'session'>,
): Promise<void> {
  if (session === null) return;
  const since = await sessionStore(sql).sinceProof(tenant, session.id);
  if (since === undefined) throw Unauthenticated();
  if (settings.fresh > 0 && since > settings.fresh) throw NotFresh();
}
