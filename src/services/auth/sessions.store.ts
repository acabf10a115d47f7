import type { Session } from '../../../generated/auth/types.ts';
import type { Sql } from '../../db/index.ts';

/** A session as it is stored; `current` depends on who asks. */
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

/** Whom a session token stands for, as the database knows it now. */
export interface SessionFacts {
  readonly id: string;
  readonly tenant: string;
  readonly app: string;
  readonly user_id: string;
  readonly org_id: string | null;
  readonly impersonated_by: string | null;
  readonly expires_at: string;
  readonly authenticated_at: string;
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

  /** Of the user's sessions of this kind all but the `keep` newest, which are to end. */
  async surplus(tenant: string, userId: string, keep: number): Promise<string[]> {
    const rows = await sql<{ id: string }[]>`
      select id from auth.sessions
      where tenant_id = ${tenant} and user_id = ${userId} and kind <> 'impersonation' and ${isLive(sql)}
      order by created_at desc, id desc
      offset ${keep}`;
    return rows.map(({ id }) => id);
  },

  /** Ends sessions, and those that were impersonations by them. Answers which ended just now. */
  async revoke(tenant: string, ids: readonly string[]): Promise<{ id: string; user_id: string }[]> {
    return await sql<{ id: string; user_id: string }[]>`
      update auth.sessions
      set revoked_at = now(), token_hash = null, refresh_hash = null, retry_key = null, retry_box = null
      where tenant_id = ${tenant} and revoked_at is null
        and (id = any(${[...ids]}::text[]) or impersonator_session_id = any(${[...ids]}::text[]))
      returning id, user_id`;
  },

  /** Ids of the user's sessions that have not ended; impersonations by the user are ended with them. */
  async idsOfUser(tenant: string, userId: string): Promise<string[]> {
    const rows = await sql<{ id: string }[]>`
      select id from auth.sessions
      where tenant_id = ${tenant} and user_id = ${userId} and ${isLive(sql)}`;
    return rows.map(({ id }) => id);
  },

  /** The user's sessions that have not ended, impersonations too; newest first. */
  async liveOfUser(tenant: string, userId: string, limit: number): Promise<StoredSession[]> {
    return await sql<StoredSession[]>`
      select ${sessionColumns(sql)}
      from auth.sessions
      where tenant_id = ${tenant} and user_id = ${userId} and ${isLive(sql)}
      order by created_at desc, id
      limit ${limit}`;
  },

  /**
   * How many milliseconds the session has left, undefined where it ended. It does not end otherwise for as long as the
   * transaction lasts.
   */
  async hold(tenant: string, id: string): Promise<number | undefined> {
    const [session] = await sql<{ remaining: number }[]>`
      select floor(extract(epoch from refresh_expires_at - now()) * 1000)::float8 as remaining
      from auth.sessions
      where tenant_id = ${tenant} and id = ${id} and ${isLive(sql)} and expires_at > now()
      for share`;
    return session?.remaining;
  },

  /** The sessions behind these token hashes whose token has neither expired nor been revoked, by hash in hex. */
  async resolve(tenant: string, hashes: readonly Buffer[]): Promise<(SessionFacts & { hash: string })[]> {
    return await sql<(SessionFacts & { hash: string })[]>`
      select
        encode(token_hash, 'hex') as hash, id, tenant_id as tenant, app_id as app, user_id, org_id, impersonated_by,
        expires_at, authenticated_at
      from auth.sessions
      where tenant_id = ${tenant} and token_hash = any(${sql.array([...hashes])}::bytea[])
        and revoked_at is null and expires_at > now()`;
  },
});

/** Neither revoked nor over; its session token may have expired. */
export const isLive = (sql: Sql) =>
  sql`(sessions.revoked_at is null and sessions.refresh_expires_at > now())`;

export const sessionColumns = (sql: Sql) => sql`
  sessions.id, sessions.app_id, sessions.user_id, sessions.org_id, sessions.kind, sessions.ip_address,
  sessions.user_agent, sessions.device_id, sessions.impersonated_by, sessions.last_active_at, sessions.expires_at,
  sessions.refresh_expires_at, sessions.created_at`;
