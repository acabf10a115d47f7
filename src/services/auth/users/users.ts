import { isDeepStrictEqual } from 'node:util';
import type { Users } from '../../../../generated/auth/server.ts';
import type { User, UserUpdate } from '../../../../generated/auth/types.ts';
import type { Context } from '../../../http/context.ts';
import { answerPage, windowOf } from '../../../http/lists.ts';
import { Invalid } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { appOfCaller, authorOf } from '../directory/app-context.ts';
import { assignmentStore } from '../roles/assignments.store.ts';
import { assignDefaultRole } from '../roles/default-role.ts';
import type { Deps } from '../factors/deps.ts';
import { eraseUser } from './erasure.ts';
import { MissingScope } from '../errors.ts';
import { refuseImpersonation } from '../sessions/impersonation.ts';
import { userOf } from '../organizations/org-entry.ts';
import { checkNewPassword } from '../factors/password-rules.ts';
import { endSessionsOfUser } from '../sessions/revocations.ts';
import { sessionStore } from '../sessions/sessions.store.ts';
import { cleanPhone, cleanText } from '../text/text-rules.ts';
import { checkReachable, cleanProfile } from '../text/user-profile.ts';
import { checkMayActOn } from '../roles/user-authority.ts';
import { userEndings } from '../sessions/user-endings.store.ts';
import { userStore } from '../directory/users.store.ts';
import type { Write } from '../directory/writes.ts';

/** Maximum number of sessions in the list of a user's sessions. */
const mostSessions = 100;

/** Users: the accounts of an app, as its administration sees them. */
export const users = ({ db, directory, write, passwords, changes }: Deps) => {
  const appOf = (context: Context) => appOfCaller(directory, context, undefined);
  return {
    async list({ app_id, email, search, banned, ...request }, context) {
      const app = await appOfCaller(directory, context, app_id);
      const window = windowOf(request);
      const filter = { email: email?.toLowerCase(), search: search?.normalize('NFC'), banned };
      const found = await userStore(db.sql).list(app.tenant, app.id, filter, window);
      return { users: answerPage(context.reply, window, found) };
    },

    async create({ body: { app_id, password, phone, ...body } }, context) {
      const app = await appOfCaller(directory, context, app_id);
      const profile = { ...cleanProfile(body), phone: phone === null ? null : cleanPhone(phone) };
      checkReachable(profile);
      const { signal } = context;
      if (password !== undefined)
        await checkNewPassword(passwords, password, { app, owner: profile, field: 'password', signal });
      const password_hash = password === undefined ? null : await passwords.hash(password, signal);
      return write(authorOf(context, app), async (tx) => {
        const id = newId('user');
        const user = await userStore(tx.sql).insert({
          ...profile,
          id,
          tenant_id: tx.tenant,
          app_id: tx.app,
          email_verified: profile.email_verified && profile.email !== null,
          phone_verified: false,
          password_hash,
        });
        await assignDefaultRole(tx, app, id);
        tx.emit('user.created', id, { user_id: id, email: user.email });
        return user;
      });
    },

    async get({ userId }, context) {
      const app = await appOf(context);
      return userStore(db.sql).get(app.tenant, app.id, userId);
    },

    async update({ userId, body }, context) {
      const change = cleanProfile(body);
      return write(authorOf(context, await appOf(context)), (tx) => changeUser(tx, context, userId, change));
    },

    async delete({ userId }, context) {
      refuseImpersonation(context);
      return write(authorOf(context, await appOf(context)), async (tx) => {
        const user = await userStore(tx.sql).lock(tx.tenant, tx.app, userId);
        await checkMayActOn(tx, context, userId);
        await eraseUser(tx, user);
        return { status: 'deleted' as const };
      });
    },

    async ban(
      { userId, body: { reason = null, expires_at = null } = { reason: null, expires_at: null } },
      context,
    ) {
      const ban_reason = reason === null ? null : cleanText('reason', reason);
      if (expires_at !== null && Date.parse(expires_at) <= changes.clock.now())
        throw Invalid('expires_at: must be in the future');
      return write(authorOf(context, await appOf(context)), async (tx) => {
        await userStore(tx.sql).lock(tx.tenant, tx.app, userId);
        await checkMayActOn(tx, context, userId);
        const user = await userStore(tx.sql).ban(tx.tenant, {
          id: userId,
          ban_reason,
          ban_expires_at: expires_at,
        });
        await endSessionsOfUser(tx, userId, 'banned');
        await userEndings(tx.sql).endGrants(tx.tenant, userId);
        await userEndings(tx.sql).endChallenges(tx.tenant, userId);
        tx.secured({ userId, change: 'banned' });
        tx.changed('user', userId, 'refuse');
        tx.emit('user.banned', userId, { user_id: userId, reason: ban_reason });
        return user;
      });
    },

    async unban({ userId }, context) {
      return write(authorOf(context, await appOf(context)), async (tx) => {
        const user = await userStore(tx.sql).lock(tx.tenant, tx.app, userId);
        if (!user.banned) return user;
        await checkMayActOn(tx, context, userId);
        tx.emit('user.unbanned', userId, { user_id: userId });
        return userStore(tx.sql).unban(tx.tenant, userId);
      });
    },

    async sessions({ userId }, context) {
      const app = await appOf(context);
      await userStore(db.sql).get(app.tenant, app.id, userId);
      const live = await sessionStore(db.sql).liveOfUser(app.tenant, userId, mostSessions);
      return {
        sessions: live.map((session) => ({ ...session, current: session.id === context.session?.id })),
      };
    },

    async signoutAll({ userId }, context) {
      return write(authorOf(context, await appOf(context)), async (tx) => {
        await userStore(tx.sql).lock(tx.tenant, tx.app, userId);
        await checkMayActOn(tx, context, userId);
        return { status: 'revoked' as const, count: await endSessionsOfUser(tx, userId, 'revoked') };
      });
    },

    async resetMfa({ userId }, context) {
      refuseImpersonation(context);
      return write(authorOf(context, await appOf(context)), async (tx) => {
        await userStore(tx.sql).lock(tx.tenant, tx.app, userId);
        await checkMayActOn(tx, context, userId);
        for (const method of await userEndings(tx.sql).endFactors(tx.tenant, userId)) {
          tx.secured({ userId, change: 'factors_reset' });
          tx.emit('auth.mfa_disabled', userId, { user_id: userId, method });
        }
        return { status: 'removed' as const };
      });
    },

    async roles({ userId }, context) {
      if (userOf(context) !== userId && !context.holds('auth:read')) throw MissingScope('auth:read');
      const app = await appOf(context);
      await userStore(db.sql).get(app.tenant, app.id, userId);
      return { roles: await assignmentStore(db.sql).rolesOf(app.tenant, userId) };
    },
  } satisfies Users<Context>;
};

async function changeUser(tx: Write, context: Context, id: string, change: UserUpdate): Promise<User> {
  const store = userStore(tx.sql);
  const user = await store.lock(tx.tenant, tx.app, id);
  const next = { ...user, ...change };
  const moved = next.email !== user.email;
  next.email_verified = next.email !== null && (moved ? change.email_verified === true : next.email_verified);
  checkReachable(next);
  const fields = changeable.filter((member) => !isDeepStrictEqual(next[member], user[member]));
  if (fields.length === 0) return user;
  // Changing the identifiers that a user signs in by can take the account over.
  if (fields.some((name) => opening.includes(name))) await checkMayActOn(tx, context, id);
  // Tokens that were sent to the old address are void.
  if (moved) await userEndings(tx.sql).voidTokens(tx.tenant, tx.app, id);
  const updated = await store.update(tx.tenant, next);
  if (moved) tx.secured({ userId: id, change: 'email_changed', formerEmail: user.email });
  tx.emit('user.updated', id, { user_id: id, fields });
  if (updated.email_verified && fields.includes('email_verified'))
    tx.emit('user.email_verified', id, { user_id: id });
  return updated;
}

const changeable = ['email', 'email_verified', 'username', 'name', 'image', 'metadata'] as const;

/** The members through which an account can be taken over. */
const opening: readonly string[] = ['email', 'email_verified', 'username'];
