import type { Sql } from '../../../db/index.ts';

/** The platform's session of a browser that is signed in at the provider. */
export interface HostedSession {
  readonly id: string;
  readonly tenant: string;
  readonly app: string;
  readonly user_id: string;
  readonly ended: boolean;
}

/** Every statement about browser sessions, which are found by the provider's uid. */
export const hostedSessionStore = (sql: Sql) => ({
  async find(uid: string): Promise<HostedSession | undefined> {
    const [found] = await sql<HostedSession[]>`
      select id, tenant_id as tenant, app_id as app, user_id, revoked_at is not null as ended
      from auth.sessions
      where oidc_uid = ${uid}`;
    return found;
  },

  async link(tenant: string, id: string, uid: string): Promise<void> {
    await sql`update auth.sessions set oidc_uid = ${uid} where tenant_id = ${tenant} and id = ${id}`;
  },

  /** Extends the session; returns false if it has ended. `authenticatedAt` is in seconds since 1970. */
  async extend(tenant: string, id: string, seconds: number, authenticatedAt: number): Promise<boolean> {
    const { count } = await sql`
      update auth.sessions
      set expires_at = now() + ${seconds} * interval '1 second',
        refresh_expires_at = now() + ${seconds} * interval '1 second',
        authenticated_at = greatest(authenticated_at, to_timestamp(${authenticatedAt})), last_active_at = now()
      where tenant_id = ${tenant} and id = ${id} and revoked_at is null`;
    return count > 0;
  },
});
