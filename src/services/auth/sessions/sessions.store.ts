import type { Session } from '../../../../generated/auth/types.ts';
import type { Sql } from '../../../db/index.ts';

/** A session as it is stored; `current` depends on the caller. */
export type StoredSession = Omit<Session, 'current'>;

export interface NewSession extends Pick<
  Session,
  | 'id'
  | 'app_id'
  | 'user_id'
  | 'kind'
  | 'org_id'
  | 'ip_address'
  | 'user_agent'
  | 'device_id'
  | 'impersonated_by'
> {
  readonly tenant_id: string;
  readonly impersonator_session_id: string | null;
  readonly token_hash: Buffer | null;
  readonly refresh_hash: Buffer | null;
  /** Milliseconds from now, by the database's clock. */
  readonly expires_in: number;
  readonly refresh_expires_in: number;
}

const ms = (sql: Sql, count: number) => sql`${count} * interval '1 millisecond'`;

/** Every statement about sessions. */
export const sessionStore = (sql: Sql) => ({
  async insert(session: NewSession): Promise<StoredSession> {
    const [inserted] = await sql<[StoredSession]>`
      insert into auth.sessions (
        id, tenant_id, app_id, user_id, kind, org_id, ip_address, user_agent, device_id, impersonated_by,
        impersonator_session_id, token_hash, refresh_hash, expires_at, refresh_expires_at
      )
      values (
        ${session.id}, ${session.tenant_id}, ${session.app_id}, ${session.user_id}, ${session.kind}, ${session.org_id},
        ${session.ip_address}, ${session.user_agent}, ${session.device_id}, ${session.impersonated_by},
        ${session.impersonator_session_id}, ${session.token_hash}, ${session.refresh_hash},
        now() + ${ms(sql, session.expires_in)}, now() + ${ms(sql, session.refresh_expires_in)}
      )
      returning ${sessionColumns(sql)}`;
    return inserted;
  },

  /** Returns the ids of the user's own sessions except the `keep` newest: the ones to end. */
  async surplus(tenant: string, userId: string, keep: number): Promise<string[]> {
    const rows = await sql<{ id: string }[]>`
      select id from auth.sessions
      where tenant_id = ${tenant} and user_id = ${userId} and kind <> 'impersonation' and ${isLive(sql)}
      order by created_at desc, id desc
      offset ${keep}`;
    return rows.map(({ id }) => id);
  },

  /**
   * Ends sessions, the impersonations that they started, and the provider's records for a browser; queues notifications to
   * clients that were signed in to from such a browser. Returns the sessions that it ended.
   */
  async revoke(tenant: string, ids: readonly string[]): Promise<{ id: string; user_id: string }[]> {
    return await sql<{ id: string; user_id: string }[]>`
      with ended as (
        update auth.sessions
        set revoked_at = now(), token_hash = null, refresh_hash = null, retry_key = null, retry_box = null
        where tenant_id = ${tenant} and revoked_at is null
          and (id = any(${[...ids]}::text[]) or impersonator_session_id = any(${[...ids]}::text[]))
        returning id, user_id, oidc_uid
      ), closed as (
        delete from auth.oidc
        where model = 'Session' and uid in (select oidc_uid from ended where oidc_uid is not null)
        returning payload -> 'authorizations' as authorizations, user_id
      ), told as (
        insert into auth.logouts (tenant_id, client_id, sid, user_id)
        select clients.tenant_id, clients.id, known.value ->> 'sid', closed.user_id
        from closed
        cross join lateral jsonb_each(closed.authorizations) as known
        join auth.clients on clients.tenant_id = ${tenant} and clients.id = known.key
        where clients.backchannel_logout_uri is not null and known.value ->> 'sid' is not null
        on conflict do nothing
      )
      select id, user_id from ended`;
  },

  /** Ids of the user's live sessions; impersonations by the user end with them. */
  async idsOfUser(tenant: string, userId: string): Promise<string[]> {
    const rows = await sql<{ id: string }[]>`
      select id from auth.sessions
      where tenant_id = ${tenant} and user_id = ${userId} and ${isLive(sql)}`;
    return rows.map(({ id }) => id);
  },

  /** The user's own live sessions, newest first. */
  async ownOfUser(tenant: string, userId: string, limit: number): Promise<StoredSession[]> {
    return await sql<StoredSession[]>`
      select ${sessionColumns(sql)}
      from auth.sessions
      where tenant_id = ${tenant} and user_id = ${userId} and kind <> 'impersonation' and ${isLive(sql)}
      order by created_at desc, id desc
      limit ${limit}`;
  },

  /** The user's live sessions, including impersonations; newest first. */
  async liveOfUser(tenant: string, userId: string, limit: number): Promise<StoredSession[]> {
    return await sql<StoredSession[]>`
      select ${sessionColumns(sql)}
      from auth.sessions
      where tenant_id = ${tenant} and user_id = ${userId} and ${isLive(sql)}
      order by created_at desc, id desc
      limit ${limit}`;
  },

  /**
   * Returns how many milliseconds the session has left, undefined if it has ended. Nothing else ends it until the end of the
   * transaction.
   */
  async hold(tenant: string, id: string): Promise<number | undefined> {
    const [session] = await sql<{ remaining: number }[]>`
      select floor(extract(epoch from refresh_expires_at - now()) * 1000)::float8 as remaining
      from auth.sessions
      where tenant_id = ${tenant} and id = ${id} and ${isLive(sql)} and expires_at > now()
      for share`;
    return session?.remaining;
  },

  /** Finds a session of the user, live or ended; impersonations do not count as theirs. */
  async findOfUser(tenant: string, userId: string, id: string): Promise<{ id: string } | undefined> {
    const [session] = await sql<{ id: string }[]>`
      select id from auth.sessions
      where tenant_id = ${tenant} and user_id = ${userId} and id = ${id} and kind <> 'impersonation'`;
    return session;
  },

  /** The live sessions of a device. */
  async idsOfDevice(tenant: string, deviceId: string): Promise<string[]> {
    const rows = await sql<{ id: string }[]>`
      select id from auth.sessions
      where tenant_id = ${tenant} and device_id = ${deviceId} and ${isLive(sql)}`;
    return rows.map(({ id }) => id);
  },

  /** Detaches all sessions from the device. */
  async leaveDevice(tenant: string, deviceId: string): Promise<void> {
    await sql`
      update auth.sessions set device_id = null
      where tenant_id = ${tenant} and device_id = ${deviceId}`;
  },

  /** Whether the user is a member of the organization; keeps them one until the end of the transaction. */
  async holdMembership(tenant: string, app: string, userId: string, orgId: string): Promise<boolean> {
    const [member] = await sql`
      select from auth.members
      join auth.organizations
        on organizations.tenant_id = members.tenant_id and organizations.id = members.org_id
      where members.tenant_id = ${tenant} and members.user_id = ${userId} and members.org_id = ${orgId}
        and organizations.app_id = ${app}
      for key share of members`;
    return member !== undefined;
  },

  /** Makes the organization the active one; returns undefined if the session has ended. */
  async switchOrg(tenant: string, id: string, orgId: string | null): Promise<StoredSession | undefined> {
    const [session] = await sql<StoredSession[]>`
      update auth.sessions set org_id = ${orgId}
      where tenant_id = ${tenant} and id = ${id} and ${isLive(sql)}
      returning ${sessionColumns(sql)}`;
    return session;
  },

  /** Milliseconds since the user last authenticated; undefined if the session has ended. */
  async sinceProof(tenant: string, id: string): Promise<number | undefined> {
    const [session] = await sql<{ since: number }[]>`
      select extract(epoch from now() - authenticated_at)::float8 * 1000 as since
      from auth.sessions
      where tenant_id = ${tenant} and id = ${id} and ${isLive(sql)}`;
    return session?.since;
  },

  /** Records that the user authenticated; returns false if the session has ended. */
  async prove(tenant: string, id: string): Promise<boolean> {
    const { count } = await sql`
      update auth.sessions set authenticated_at = now()
      where tenant_id = ${tenant} and id = ${id} and ${isLive(sql)}`;
    return count > 0;
  },
});

/** The session is neither revoked nor over; its session token may have expired. */
export const isLive = (sql: Sql) =>
  sql`(sessions.revoked_at is null and sessions.refresh_expires_at > now())`;

export const sessionColumns = (sql: Sql) => sql`
  sessions.id, sessions.app_id, sessions.user_id, sessions.org_id, sessions.kind, sessions.ip_address,
  sessions.user_agent, sessions.device_id, sessions.impersonated_by, sessions.last_active_at, sessions.expires_at,
  sessions.refresh_expires_at, sessions.created_at`;
