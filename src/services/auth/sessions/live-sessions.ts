import type { Sql } from '../../../db/index.ts';
import { lackedToImpersonate } from './impersonation.ts';
import { impersonationStore } from './impersonations.store.ts';
import { principalStore, type SessionRow, type WantedSession } from '../directory/principals.store.ts';
import { scopeStore } from '../directory/scopes.store.ts';

/** The impersonator in a session, and the scopes they hold: losing the required ones ends the session. */
export interface Impersonator {
  readonly user_id: string;
  readonly session_id: string;
  readonly scopes: readonly string[];
}

/** A session that is currently valid. */
export interface LiveSession extends Omit<SessionRow, 'impersonator_session_id'> {
  /** Null for root, for keys, and without impersonation. */
  readonly impersonator: Impersonator | null;
}

/** Returns the sessions of these tokens, without impersonations whose impersonator now holds too little. */
export async function liveSessions(sql: Sql, wanted: readonly WantedSession[]): Promise<LiveSession[]> {
  const rows = await principalStore(sql).sessions(wanted);
  const impersonators = await impersonatorsOf(sql, rows);
  return rows.flatMap(({ impersonator_session_id, ...row }): LiveSession[] => {
    if (impersonator_session_id === null) return [{ ...row, impersonator: null }];
    const impersonator = impersonators.get(row.id);
    const all = [...row.scopes, ...row.org_scopes];
    const goesOn = impersonator !== undefined && lackedToImpersonate(impersonator.scopes, all) === undefined;
    return goesOn ? [{ ...row, impersonator }] : [];
  });
}

/** Maps session ids to impersonators; an entry is missing if the impersonator's own session has ended. */
async function impersonatorsOf(sql: Sql, rows: readonly SessionRow[]): Promise<Map<string, Impersonator>> {
  const impersonated = rows.filter(({ impersonator_session_id }) => impersonator_session_id !== null);
  if (impersonated.length === 0) return new Map();
  const running = await impersonationStore(sql).ofSessions(impersonated);
  const held = await scopeStore(sql).ofUsers(
    running.map(({ tenant, by_user }) => ({ tenant, user: by_user })),
  );
  return new Map(
    running.map(({ id, by_user, by_session }, at) => [
      id,
      { user_id: by_user, session_id: by_session, scopes: held[at]! },
    ]),
  );
}
