import type { Session } from '../../../../generated/auth/types.ts';
import type { Sql } from '../../../db/index.ts';
import { isLive } from './sessions.store.ts';

/** One refresh token to look for: the tenant that it belongs to and its hash (lower-case hexadecimal). */
export interface WantedRefresh {
  readonly tenant: string;
  readonly hash: string;
}

/** The session that a refresh token can renew. */
export interface Refreshable extends Pick<Session, 'id' | 'app_id' | 'user_id' | 'kind'> {
  /** SHA-256 of the token, in hexadecimal. */
  readonly hash: string;
  /** Whether a user impersonates the session's user. */
  readonly by_user: boolean;
}

export interface Rotation {
  readonly tenant: string;
  readonly id: string;
  readonly oldHash: Buffer;
  readonly tokenHash: Buffer;
  readonly refreshHash: Buffer;
  /** The lifetime of the session token, in milliseconds. */
  readonly expiresIn: number;
  /** The lifetime of the session from now on; null if a refresh does not extend it. */
  readonly refreshExpiresIn: number | null;
  readonly retryKey: string | null;
  readonly retryBox: Buffer | null;
}

export interface Rotated {
  readonly id: string;
  readonly expires_at: string;
  /** SHA-256 of the new session token, in hexadecimal. */
  readonly hash: string;
}

/** A refresh token that was already exchanged, and its session now. */
export interface Spent {
  readonly session_id: string;
  readonly app_id: string;
  readonly user_id: string;
  readonly ended: boolean;
  /** Seconds since it was exchanged. */
  readonly age: number;
  readonly expires_at: string;
  /** The key of the session's last refresh, and its sealed response, for a minute. */
  readonly retry_key: string | null;
  readonly retry_box: Buffer | null;
}

/** Every statement about refresh tokens. */
export const refreshStore = (sql: Sql) => ({
  /** Returns the sessions of all requested tokens in one statement. */
  async current(wanted: readonly WantedRefresh[]): Promise<Refreshable[]> {
    return await sql<Refreshable[]>`
      select wanted.hash, sessions.id, sessions.app_id, sessions.user_id, sessions.kind,
        sessions.impersonator_session_id is not null as by_user
      from unnest(
        ${wanted.map(({ tenant }) => tenant)}::text[],
        ${wanted.map(({ hash }) => hash)}::text[]
      ) as wanted(tenant_id, hash)
      join auth.sessions
        on sessions.tenant_id = wanted.tenant_id and sessions.refresh_hash = decode(wanted.hash, 'hex')
          and ${isLive(sql)}`;
  },

  /**
   * Replaces both tokens of these sessions and records the old ones as spent. Row locks ensure that only one of several
   * concurrent calls succeeds. `longest` is the maximum lifetime of a session from its start. If `waiting` is false, sessions
   * locked by others are skipped: waiting for some while holding others could deadlock.
   */
  async rotate(rotations: readonly Rotation[], longest: number, waiting: boolean): Promise<Rotated[]> {
    const column = <T>(of: (rotation: Rotation) => T) => rotations.map(of);
    return await sql<Rotated[]>`
      with given as (
        select distinct on (tenant_id, id) *
        from unnest(
          ${column(({ tenant }) => tenant)}::text[],
          ${column(({ id }) => id)}::text[],
          ${column(({ oldHash }) => oldHash.toString('hex'))}::text[],
          ${column(({ tokenHash }) => tokenHash.toString('hex'))}::text[],
          ${column(({ refreshHash }) => refreshHash.toString('hex'))}::text[],
          ${column(({ expiresIn }) => expiresIn)}::float8[],
          ${column(({ refreshExpiresIn }) => refreshExpiresIn)}::float8[],
          ${column(({ retryKey }) => retryKey)}::text[],
          ${column(({ retryBox }) => retryBox && retryBox.toString('hex'))}::text[]
        ) as given(
          tenant_id, id, old_hash, token_hash, refresh_hash, expires_in, refresh_expires_in, retry_key, retry_box
        )
      ), held as (
        select given.*,
          case when given.refresh_expires_in is null then sessions.refresh_expires_at
            else least(
              now() + given.refresh_expires_in * ${millisecond(sql)}, sessions.created_at + ${longest} * ${millisecond(sql)}
            )
          end as over_at
        from given
        join auth.sessions
          on sessions.tenant_id = given.tenant_id and sessions.id = given.id
            and sessions.refresh_hash = decode(given.old_hash, 'hex') and ${isLive(sql)}
        for update of sessions ${waiting ? sql`` : sql`skip locked`}
      ), spent as (
        insert into auth.spent_refresh (tenant_id, hash, session_id)
        select tenant_id, decode(old_hash, 'hex'), id from held
      )
      update auth.sessions
      set
        token_hash = decode(held.token_hash, 'hex'), refresh_hash = decode(held.refresh_hash, 'hex'), rotated_at = now(),
        last_active_at = now(), expires_at = least(now() + held.expires_in * ${millisecond(sql)}, held.over_at),
        refresh_expires_at = held.over_at, retry_key = held.retry_key, retry_box = decode(held.retry_box, 'hex')
      from held
      where sessions.tenant_id = held.tenant_id and sessions.id = held.id
      returning sessions.id, sessions.expires_at, held.token_hash as hash`;
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
