import type { Admin } from '../../../../generated/auth/server.ts';
import type { Impersonation, ImpersonationResult } from '../../../../generated/auth/types.ts';
import type { Context } from '../../../http/context.ts';
import { Forbidden, Unauthenticated } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { appOfCaller, authorOf } from '../directory/app-context.ts';
import type { Deps } from '../factors/deps.ts';
import { GrantExceedsCaller, MissingScope, UserBanned } from '../errors.ts';
import {
  impersonationTokenMs,
  lackedToImpersonate,
  longestImpersonationMs,
  refuseImpersonation,
} from '../sessions/impersonation.ts';
import { endSessions } from '../sessions/revocations.ts';
import { scopeStore } from '../directory/scopes.store.ts';
import { sessionStore } from '../sessions/sessions.store.ts';
import { cleanText } from '../text/text-rules.ts';
import { issueToken } from '../directory/tokens.ts';
import { userStore } from '../directory/users.store.ts';
import type { Write } from '../directory/writes.ts';

/** Admin: acting as another user. */
export const admin = ({ directory, write }: Deps) =>
  ({
    async impersonate({ body: { app_id, ...body } }, context) {
      refuseImpersonation(context);
      const app = await appOfCaller(directory, context, app_id);
      const tag = await directory.tagOf(app.tenant);
      const result = await write(authorOf(context, app), (tx) => impersonate(tx, context, tag, body));
      context.reply.header('Cache-Control', 'no-store');
      return result;
    },

    async stopImpersonating(_request, context) {
      const { session } = context;
      if (session === null || session.impersonatedBy === null) throw Forbidden('not impersonating');
      const app = await appOfCaller(directory, context, undefined);
      await write(authorOf(context, app), (tx) => endSessions(tx, [session.id], 'impersonation_stopped'));
      return { status: 'stopped' };
    },
  }) satisfies Admin<Context>;

/** Starts a session as another user, if the caller holds everything that the user holds in any organization. */
async function impersonate(
  tx: Write,
  context: Context,
  tag: string,
  { target_user_id, reason = null }: Omit<Impersonation, 'app_id'>,
): Promise<ImpersonationResult> {
  const { sql, tenant, app, emit } = tx;
  const { held, remaining } = await callerNow(tx, context);
  await userStore(sql).hold(tenant, app, target_user_id);
  const target = await userStore(sql).get(tenant, app, target_user_id);
  if (target.banned) throw UserBanned();
  const scopes = await scopeStore(sql).anywhereOfUser(tenant, target.id);
  const lacked = lackedToImpersonate(held, scopes);
  if (lacked !== undefined) throw GrantExceedsCaller(lacked);

  const [sessionToken, refreshToken] = [issueToken('pst', tag), issueToken('prt', tag)];
  const lasting = Math.min(longestImpersonationMs, remaining);
  const session = await sessionStore(sql).insert({
    id: newId('sess'),
    tenant_id: tenant,
    app_id: app,
    user_id: target.id,
    kind: 'impersonation',
    org_id: null,
    ip_address: context.ip,
    user_agent: context.userAgent,
    device_id: null,
    impersonated_by: context.actor,
    impersonator_session_id: context.session?.id ?? null,
    token_hash: sessionToken.hash,
    refresh_hash: refreshToken.hash,
    expires_in: Math.min(impersonationTokenMs, lasting),
    refresh_expires_in: lasting,
  });
  emit('auth.session.created', session.id, { user_id: target.id, session_id: session.id });
  emit('auth.impersonated', target.id, {
    actor: context.actor,
    user_id: target.id,
    session_id: session.id,
    reason: reason === null ? null : cleanText('reason', reason),
  });
  return {
    session_token: sessionToken.token,
    refresh_token: refreshToken.token,
    expires_at: session.expires_at,
    impersonated_by: context.actor,
    target_user: target,
  };
}

/**
 * The scopes that the caller holds, and for how long: for a session, the current database state, not the cache. The end of a key
 * is not reported here, so an impersonation by a key ends with its first token. An access token cannot start a session.
 */
async function callerNow(
  { sql, tenant }: Write,
  { session, userId, scopes, credential }: Context,
): Promise<{ held: readonly string[]; remaining: number }> {
  if (credential.kind === 'token')
    throw Forbidden('an access token cannot impersonate; sign in with a session');
  if (session === null || userId === null)
    return { held: scopes, remaining: credential.kind === 'key' ? impersonationTokenMs : Infinity };
  const remaining = await sessionStore(sql).hold(tenant, session.id);
  if (remaining === undefined) throw Unauthenticated();
  const held = await scopeStore(sql).ofUser(tenant, userId);
  if (lackedToImpersonate(held, []) !== undefined) throw MissingScope('auth:admin');
  return { held, remaining };
}
