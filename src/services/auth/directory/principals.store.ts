import type { User } from '../../../../generated/auth/types.ts';
import type { Sql } from '../../../db/index.ts';
import { scopeOf } from './scopes.store.ts';
import { userColumns } from './users.store.ts';

/** The user of a session token and their rights, as the database knows them now. */
export interface SessionRow {
  /** SHA-256 of the token, in hexadecimal. */
  readonly hash: string;
  readonly id: string;
  readonly tenant: string;
  readonly app: string;
  readonly user_id: string;
  readonly org_id: string | null;
  readonly impersonated_by: string | null;
  /** The session of the user who impersonates this one; null for root, for keys, and without impersonation. */
  readonly impersonator_session_id: string | null;
  readonly expires_at: string;
  readonly authenticated_at: string;
  readonly scopes: string[];
  readonly org_scopes: string[];
}

/** One session token to look for: the tenant that it belongs to and its hash (lower-case hexadecimal). */
export interface WantedSession {
  readonly tenant: string;
  readonly hash: string;
}

/** One account to look for. */
export interface WantedUser {
  readonly tenant: string;
  readonly app: string;
  readonly id: string;
}

/** The queries that fill the caches of credentials, and the updates that record their use. */
export const principalStore = (sql: Sql) => ({
  /**
   * Returns all requested sessions in one statement: those whose token is neither expired nor revoked, of existing apps. The
   * scopes of their users' roles and inherited roles are included: app-wide ones, and separately those of the active
   * organization.
   */
  async sessions(wanted: readonly WantedSession[]): Promise<SessionRow[]> {
    return await sql<SessionRow[]>`
      with recursive found as materialized (
        select
          wanted.hash, sessions.id, sessions.tenant_id, sessions.app_id, sessions.user_id, sessions.org_id,
          sessions.impersonated_by, sessions.impersonator_session_id, sessions.expires_at, sessions.authenticated_at
        from unnest(
          ${wanted.map(({ tenant }) => tenant)}::text[],
          ${wanted.map(({ hash }) => hash)}::text[]
        ) as wanted(tenant_id, hash)
        join auth.sessions
          on sessions.tenant_id = wanted.tenant_id and sessions.token_hash = decode(wanted.hash, 'hex')
            and sessions.revoked_at is null and sessions.expires_at > now()
        join auth.apps
          on apps.tenant_id = sessions.tenant_id and apps.id = sessions.app_id and apps.deleted_at is null
      ), held as (
        select
          found.hash, roles.tenant_id, roles.id, roles.parent_id, assignments.org_id <> '' as in_org, 1 as depth
        from found
        join auth.assignments
          on assignments.tenant_id = found.tenant_id and assignments.user_id = found.user_id
            and assignments.org_id in ('', coalesce(found.org_id, ''))
        join auth.roles on roles.tenant_id = assignments.tenant_id and roles.id = assignments.role_id
        union
        select held.hash, parents.tenant_id, parents.id, parents.parent_id, held.in_org, held.depth + 1
        from held
        join auth.roles as parents on parents.tenant_id = held.tenant_id and parents.id = held.parent_id
        where held.depth < 9
      ), granted as (
        select
          held.hash,
          array_agg(distinct ${scopeOf(sql)}) filter (where not held.in_org) as scopes,
          array_agg(distinct ${scopeOf(sql)}) filter (where held.in_org) as org_scopes
        from held
        join auth.permissions on permissions.tenant_id = held.tenant_id and permissions.role_id = held.id
        group by held.hash
      )
      select
        found.hash, found.id, found.tenant_id as tenant, found.app_id as app, found.user_id, found.org_id,
        found.impersonated_by, found.impersonator_session_id, found.expires_at, found.authenticated_at,
        coalesce(granted.scopes[1:500], '{}') as scopes, coalesce(granted.org_scopes[1:500], '{}') as org_scopes
      from found
      left join granted on granted.hash = found.hash`;
  },

  /** Returns the accounts of these users in one statement. */
  async users(wanted: readonly WantedUser[]): Promise<User[]> {
    return await sql<User[]>`
      select ${userColumns(sql)}
      from unnest(
        ${wanted.map(({ tenant }) => tenant)}::text[],
        ${wanted.map(({ app }) => app)}::text[],
        ${wanted.map(({ id }) => id)}::text[]
      ) as wanted(tenant_id, app_id, id)
      join auth.users
        on users.tenant_id = wanted.tenant_id and users.app_id = wanted.app_id and users.id = wanted.id`;
  },

  /** Records when sessions and their devices were last used. */
  async noteUse(uses: readonly { tenant: string; session: string; agoMs: number }[]): Promise<void> {
    await sql`
      with used as (
        select tenant_id, id, now() - ago * interval '1 millisecond' as at
        from unnest(
          ${uses.map(({ tenant }) => tenant)}::text[],
          ${uses.map(({ session }) => session)}::text[],
          ${uses.map(({ agoMs }) => agoMs)}::float8[]
        ) as used(tenant_id, id, ago)
      ), touched as (
        update auth.sessions
        set last_active_at = greatest(sessions.last_active_at, used.at)
        from used
        where sessions.tenant_id = used.tenant_id and sessions.id = used.id
        returning sessions.tenant_id, sessions.device_id, sessions.last_active_at
      )
      update auth.devices
      set last_seen_at = greatest(devices.last_seen_at, seen.at)
      from (
        select tenant_id, device_id, max(last_active_at) as at from touched group by tenant_id, device_id
      ) as seen
      where devices.tenant_id = seen.tenant_id and devices.id = seen.device_id`;
  },
});
