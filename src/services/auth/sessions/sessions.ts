import type { Sessions } from '../../../../generated/auth/server.ts';
import type { Session } from '../../../../generated/auth/types.ts';
import type { Context } from '../../../http/context.ts';
import { NotFound } from '../../../lib/errors.ts';
import { authorOf, userOfCaller } from '../directory/app-context.ts';
import type { Deps } from './deps.ts';
import { endSessions, endSessionsOfUser } from './revocations.ts';
import { sessionStore, type StoredSession } from './sessions.store.ts';

/** Maximum number of sessions in a list. */
export const mostSessions = 100;

/** Sessions: where the user is signed in. An impersonation is not the user's, so it is not listed. */
export const sessions = (deps: Pick<Deps, 'db' | 'directory' | 'write'>) =>
  ({
    async list(_request, context) {
      const { app, userId } = await userOfCaller(deps, context);
      const own = await sessionStore(deps.db.sql).ownOfUser(app.tenant, userId, mostSessions);
      return { sessions: own.map((session) => asSeenFrom(context, session)) };
    },

    async revoke({ sessionId }, context) {
      const { app, userId } = await userOfCaller(deps, context);
      return deps.write(authorOf(context, app), async (tx) => {
        const found = await sessionStore(tx.sql).findOfUser(tx.tenant, userId, sessionId);
        if (!found) throw NotFound('session');
        await endSessions(tx, [found.id], 'revoked');
        return { status: 'revoked' as const };
      });
    },

    async revokeOthers(_request, context) {
      const { app, userId } = await userOfCaller(deps, context);
      return deps.write(authorOf(context, app), async (tx) => ({
        status: 'revoked' as const,
        count: await endSessionsOfUser(tx, userId, 'revoked', context.session?.id),
      }));
    },
  }) satisfies Sessions<Context>;

/** Marks the caller's own session as the current one. */
export const asSeenFrom = ({ session }: Context, stored: StoredSession): Session => ({
  ...stored,
  current: stored.id === session?.id,
});
