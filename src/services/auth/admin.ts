import type { Admin } from '../../../generated/auth/server.ts';
import type { Impersonation, ImpersonationResult } from '../../../generated/auth/types.ts';
import { covers } from '../../http/caller.ts';
import type { Context } from '../../http/context.ts';
import { Forbidden, Unauthenticated } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { appOfCaller, authorOf } from './app-context.ts';
import type { Deps } from './deps.ts';
import { GrantExceedsCaller, MissingScope, UserBanned } from './errors.ts';
import { impersonationTokenMs, longestImpersonationMs, refuseImpersonation } from './impersonation.ts';
import { endSessions } from './revocations.ts';
import { scopeStore } from './scopes.store.ts';
import { sessionStore } from './sessions.store.ts';
import { cleanText } from './text-rules.ts';
import { issueToken } from './tokens.ts';
import { userStore } from './users.store.ts';
import type { Write } from './writes.ts';

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

/** Begins a session as another user, as far as the caller holds what that user holds anywhere. */
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
  const exceeding = scopes.find((scope) => !covers(held, scope));
  if (exceeding !== undefined) throw GrantExceedsCaller(exceeding);

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

/** What the caller holds, and how long they will: of a session what the database says now, not what is remembered of it. */
async function callerNow(
  { sql, tenant }: Write,
  { session, userId, scopes }: Context,
): Promise<{ held: readonly string[]; remaining: number }> {
  if (session === null || userId === null) return { held: scopes, remaining: Infinity };
  const remaining = await sessionStore(sql).hold(tenant, session.id);
  if (remaining === undefined) throw Unauthenticated();
  const held = await scopeStore(sql).ofUser(tenant, userId, session.orgId);
  if (!covers(held, 'auth:admin')) throw MissingScope('auth:admin');
  return { held, remaining };
}
