import { sessionStore } from './sessions.store.ts';
import type { Write } from '../directory/writes.ts';

/** Why sessions ended, as in events. */
export type RevocationReason =
  | 'signout'
  | 'revoked'
  | 'max_sessions'
  | 'password_reset'
  | 'password_changed'
  | 'refresh_reused'
  | 'device_deleted'
  | 'banned'
  | 'erased'
  | 'impersonation_stopped'
  | 'impersonator_lost_rights';

/** Ends these sessions and the impersonations that they started. Returns how many it ended. */
export async function endSessions(
  { sql, tenant, changed, emit }: Write,
  ids: readonly string[],
  reason: RevocationReason,
): Promise<number> {
  if (ids.length === 0) return 0;
  const ended = await sessionStore(sql).revoke(tenant, ids);
  for (const { id, user_id } of ended) {
    changed('session', id);
    emit('auth.session.revoked', id, { user_id, session_id: id, reason });
  }
  return ended.length;
}

/** Ends the user's sessions, all but `except`. Returns how many it ended. */
export async function endSessionsOfUser(
  write: Write,
  userId: string,
  reason: RevocationReason,
  except?: string,
): Promise<number> {
  const ids = await sessionStore(write.sql).idsOfUser(write.tenant, userId);
  return endSessions(
    write,
    ids.filter((id) => id !== except),
    reason,
  );
}
