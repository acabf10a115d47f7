import type { Session } from '../../../generated/auth/types.ts';
import type { Sql } from '../../db/index.ts';

/** The session whose next pair a refresh token can get. */
export interface Refreshable extends Pick<Session, 'id' | 'app_id' | 'user_id' | 'kind'> {
  readonly refresh_expires_at: string;
}

export interface Rotation {
  readonly id: string;
  readonly oldHash: Buffer;
  readonly tokenHash: Buffer;
  readonly refreshHash: Buffer;
  /** How long the session token lives, in milliseconds. */
  readonly expiresIn: number;
  /** How long the session lives from now on; null where a refresh does not prolong it. */
  readonly refreshExpiresIn: number | null;
  /** The longest that a session lives from its beginning. */
  readonly longest: number;
  readonly retryKey: string | null;
  readonly retryBox: Buffer | null;
}

/** A refresh token that was exchanged before, and its session now. */
export interface Spent {
  readonly session_id: string;
  readonly app_id: string;
  readonly user_id: string;
  readonly ended: boolean;
  /** Seconds since it was exchanged. */
  readonly age: number;
  readonly expires_at: string;
  /** The key of the session's last refresh, and its sealed answer, for a minute. */
  readonly retry_key: string | null;
  readonly retry_box: Buffer | null;
}

/** Every statement about refresh tokens. */
export const refreshStore = (sql: Sql) => ({
  async current(tenant: string, hash: Buffer): Promise<Refreshable | undefined> {
    const [session] = await sql<Refreshable[]>`
      select id, app_id, user_id, kind, refresh_expires_at
      from auth.sessions
      where tenant_id = ${tenant} and refresh_hash = ${hash} and revoked_at is null and refresh_expires_at > now()`;
    return session;
  },

  /** Replaces both tokens and notes the old one as spent. Of many who try at once one does; the row's lock decides. */
  async rotate(tenant: string, rotation: Rotation): Promise<{ expires_at: string } | undefined> {
    const { id, oldHash, tokenHash, refreshHash, expiresIn, refreshExpiresIn, longest, retryKey, retryBox } =
      rotation;
    const [rotated] = await sql<{ expires_at: string }[]>`
      with held as (
        select tenant_id, id, refresh_hash,
          case when ${refreshExpiresIn}::float8 is null then refresh_expires_at
            else least(now() + ${refreshExpiresIn}::float8 * ${millisecond(sql)}, created_at + ${longest} * ${millisecond(sql)})
          end as over_at
        from auth.sessions
        where tenant_id = ${tenant} and id = ${id} and refresh_hash = ${oldHash}
          and revoked_at is null and refresh_expires_at > now()
        for update
      ), spent as (
        insert into auth.spent_refresh (tenant_id, hash, session_id)
        select tenant_id, refresh_hash, id from held
      )
      update auth.sessions
      set
        token_hash = ${tokenHash}, refresh_hash = ${refreshHash}, rotated_at = now(), last_active_at = now(),
        expires_at = least(now() + ${expiresIn} * ${millisecond(sql)}, held.over_at), refresh_expires_at = held.over_at,
        retry_key = ${retryKey}, retry_box = ${retryBox}
      from held
      where sessions.tenant_id = held.tenant_id and sessions.id = held.id
      returning sessions.expires_at`;
    return rotated;
  },

  async spent(tenant: string, hash: Buffer): Promise<Spent | undefined> {
    const [spent] = await sql<Spent[]>`
      select
        sessions.id as session_id, sessions.app_id, sessions.user_id, sessions.expires_at,
        sessions.revoked_at is not null or sessions.refresh_expires_at <= now() as ended,
        extract(epoch from now() - spent_refresh.spent_at)::float8 as age,
        case when sessions.rotated_at > now() - interval '60 seconds' then sessions.retry_key end as retry_key,
        case when sessions.rotated_at > now() - interval '60 seconds' then sessions.retry_box end as retry_box
      from auth.spent_refresh
      join auth.sessions on sessions.tenant_id = spent_refresh.tenant_id and sessions.id = spent_refresh.session_id
      where spent_refresh.tenant_id = ${tenant} and spent_refresh.hash = ${hash}`;
    return spent;
  },
});

const millisecond = (sql: Sql) => sql`interval '1 millisecond'`;
