import type { App } from '../../../../generated/auth/types.ts';
import { constrained } from '../../../db/constraints.ts';
import type { Sql } from '../../../db/index.ts';
import { followsPrevious, onePage, type Window } from '../../../db/lists.ts';
import { randomBase62 } from '../../../lib/base62.ts';
import { NotFound } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { constraints } from '../errors.ts';

export interface NewApp extends Pick<App, 'id' | 'name' | 'slug' | 'is_default' | 'settings'> {
  readonly tenant_id: string;
}

/** Every statement about apps. Deleted apps count as absent. */
export const appStore = (sql: Sql) => ({
  async get(tenant: string, id: string): Promise<App> {
    const [app] = await sql<App[]>`
      select ${columns(sql)}
      from auth.apps
      where tenant_id = ${tenant} and id = ${id} and deleted_at is null`;
    if (!app) throw NotFound('app');
    return app;
  },

  /** Lists the newest first; returns one more than `limit` when more follow. */
  async list(tenant: string, window: Window): Promise<App[]> {
    return await sql<App[]>`
      select ${columns(sql)}
      from auth.apps
      where tenant_id = ${tenant} and deleted_at is null
        ${followsPrevious(sql, window)}
      ${onePage(sql, window)}`;
  },

  /** Returns the app, locked against other changes until the end of the transaction. */
  async lock(tenant: string, id: string): Promise<App> {
    await sql`select from auth.apps where tenant_id = ${tenant} and id = ${id} for update`;
    return this.get(tenant, id);
  },

  /** Whether the tenant has no app yet; a lock keeps this true for a transaction that creates one until it ends. */
  async lockFirst(tenant: string): Promise<boolean> {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`auth.apps ${tenant}`}, 0))`;
    const [found] = await sql`select from auth.apps where tenant_id = ${tenant} and is_default`;
    return found === undefined;
  },

  async update(tenant: string, { id, name, settings }: Pick<App, 'id' | 'name' | 'settings'>): Promise<void> {
    await sql`
      update auth.apps set name = ${name}, settings = ${settings as object}::jsonb, updated_at = now()
      where tenant_id = ${tenant} and id = ${id}`;
  },

  /** Marks the app as deleted. From now on its keys select nothing, and its slug is free. */
  async markDeleted(tenant: string, id: string): Promise<void> {
    await sql`update auth.apps set deleted_at = now() where tenant_id = ${tenant} and id = ${id}`;
  },

  async insertKey(tenant: string, app: string): Promise<void> {
    await sql`
      insert into auth.publishable_keys (key, tenant_id, app_id)
      values (${`pk_${randomBase62(22)}`}, ${tenant}, ${app})`;
  },

  async deleteKey(tenant: string, app: string, key: string): Promise<void> {
    const { count } = await sql`
      delete from auth.publishable_keys where tenant_id = ${tenant} and app_id = ${app} and key = ${key}`;
    if (count === 0) throw NotFound('publishable key');
  },

  /** Stores the app with its directory entry and its first publishable key; returns false if the id is taken. */
  async insertOnce({ id, tenant_id, name, slug, is_default, settings }: NewApp): Promise<boolean> {
    const { count } = await constrained(
      constraints,
      sql`
        with listed as (
          insert into auth.directory (id, tenant_id)
          values (${id}, ${tenant_id})
          on conflict (id) do nothing
          returning id
        ), app as (
          insert into auth.apps (id, tenant_id, name, slug, is_default, settings)
          select id, ${tenant_id}, ${name}, ${slug}, ${is_default}, ${settings as object}::jsonb from listed
        ), key as (
          insert into auth.publishable_keys (key, tenant_id, app_id)
          select ${`pk_${randomBase62(22)}`}, ${tenant_id}, id from listed
        )
        select id from listed`,
    );
    return count > 0;
  },

  /** The origins of the pages of all apps. */
  async origins(): Promise<string[]> {
    const rows = await sql<{ origin: string }[]>`
      select distinct jsonb_array_elements_text(settings->'allowed_origins') as origin
      from auth.apps
      where deleted_at is null`;
    return rows.map(({ origin }) => origin);
  },

  /** Creates the initial roles of an app: the `user` role grants no permissions by itself, `admin` grants every scope of this service. */
  async seedRoles(tenant: string, app: string): Promise<void> {
    const admin = newId('arole');
    await sql`
      with roles as (
        insert into auth.roles (id, tenant_id, app_id, name, slug, description, system)
        values
          (${newId('arole')}, ${tenant}, ${app}, 'User', 'user', 'What every user may do', true),
          (${admin}, ${tenant}, ${app}, 'Admin', 'admin', 'May administer accounts', true)
      )
      insert into auth.permissions (id, tenant_id, role_id, action, resource)
      values (${newId('aperm')}, ${tenant}, ${admin}, '*', 'auth')`;
  },
});

/** The keys are in order of creation, newest last, with their timestamps in wire format. */
const columns = (sql: Sql) => sql`
  apps.id, apps.name, apps.slug, apps.is_default,
  (
    select coalesce(
      jsonb_agg(
        jsonb_build_object(
          'key', key, 'created_at', to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        )
        order by publishable_keys.created_at, key
      ),
      '[]'
    )
    from auth.publishable_keys
    where publishable_keys.tenant_id = apps.tenant_id and publishable_keys.app_id = apps.id
  ) as publishable_keys,
  apps.settings, apps.created_at, apps.updated_at`;
