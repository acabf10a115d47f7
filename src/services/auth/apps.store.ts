import type { App } from '../../../generated/auth/types.ts';
import { constrained } from '../../db/constraints.ts';
import type { Sql } from '../../db/index.ts';
import { randomBase62 } from '../../lib/base62.ts';
import { newId } from '../../lib/ids.ts';
import { constraints } from './errors.ts';

export interface NewApp extends Pick<App, 'id' | 'name' | 'slug' | 'is_default' | 'settings'> {
  readonly tenant_id: string;
}

/** Every statement about apps. */
export const appStore = (sql: Sql) => ({
  /** Stores the app with its place in the directory and its first publishable key; false where the id is taken. */
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

  /** The roles that every app begins with: `user`, which may nothing by itself, and `admin`, which may all of this service. */
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
