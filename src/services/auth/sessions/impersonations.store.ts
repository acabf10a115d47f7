import type { Sql } from '../../../db/index.ts';
import { isLive } from './sessions.store.ts';

/** A session in which a user acts as another one. */
export interface RunningImpersonation {
  readonly tenant: string;
  readonly id: string;
  readonly user_id: string;
  /** The impersonator and their session. */
  readonly by_user: string;
  readonly by_session: string;
}

/** Every statement about impersonations that users started. Those of root and of keys depend on no user. */
export const impersonationStore = (sql: Sql) => ({
  /** Returns those of the sessions that are impersonations by users whose own session is live. */
  async ofSessions(
    sessions: readonly { readonly tenant: string; readonly id: string }[],
  ): Promise<RunningImpersonation[]> {
    return await sql<RunningImpersonation[]>`
      select ${columns(sql)}
      from unnest(
        ${sessions.map(({ tenant }) => tenant)}::text[],
        ${sessions.map(({ id }) => id)}::text[]
      ) as wanted(tenant_id, id)
      join auth.sessions as acting on acting.tenant_id = wanted.tenant_id and acting.id = wanted.id
      ${begunBy(sql)}`;
  },

  /** Returns the running impersonations in the app, newest first. */
  async running(tenant: string, app: string, limit: number): Promise<RunningImpersonation[]> {
    return await sql<RunningImpersonation[]>`
      select ${columns(sql)}
      from auth.sessions as acting
      ${begunBy(sql)}
      where acting.tenant_id = ${tenant} and acting.app_id = ${app} and acting.impersonator_session_id is not null
        and acting.revoked_at is null and acting.refresh_expires_at > now()
      order by acting.created_at desc
      limit ${limit}`;
  },
});

const begunBy = (sql: Sql) => sql`
  join auth.sessions
    on sessions.tenant_id = acting.tenant_id and sessions.id = acting.impersonator_session_id and ${isLive(sql)}`;

const columns = (sql: Sql) => sql`
  acting.tenant_id as tenant, acting.id, acting.user_id, sessions.user_id as by_user, sessions.id as by_session`;
