import type { Sql } from '../../../db/index.ts';
import { lackedToImpersonate } from './impersonation.ts';
import { impersonationStore, type RunningImpersonation } from './impersonations.store.ts';
import { endSessions } from './revocations.ts';
import { scopeStore } from '../directory/scopes.store.ts';
import type { Write } from '../directory/writes.ts';

/** How many impersonations one change of rights ends. The others are refused anyway, because each use of an impersonation is checked. */
const mostEnded = 1_000;

/** Ends the impersonations in the app whose impersonator has lost the right to them. */
export async function endLostImpersonations(write: Write): Promise<void> {
  const { sql, tenant, app } = write;
  const running = await impersonationStore(sql).running(tenant, app, mostEnded);
  const stands = await standing(sql, running);
  const lost = running.filter((_, at) => !stands[at]).map(({ id }) => id);
  await endSessions(write, lost, 'impersonator_lost_rights');
}

/** Whether an impersonation may continue, if the session is one that a user started. */
export async function mayGoOn(sql: Sql, session: { tenant: string; id: string }): Promise<boolean> {
  const [stands = false] = await standing(sql, await impersonationStore(sql).ofSessions([session]));
  return stands;
}

/** For each, whether its impersonator still holds the right to impersonate and everything that the user holds in the app. */
async function standing(sql: Sql, running: readonly RunningImpersonation[]): Promise<boolean[]> {
  if (running.length === 0) return [];
  const users = running.flatMap(({ tenant, by_user, user_id }) => [
    { tenant, user: by_user },
    { tenant, user: user_id },
  ]);
  const scopes = await scopeStore(sql).ofUsers(users);
  return running.map((_, at) => lackedToImpersonate(scopes[2 * at]!, scopes[2 * at + 1]!) === undefined);
}
