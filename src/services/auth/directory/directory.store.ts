import type { AppSettings } from '../../../../generated/auth/types.ts';
import type { Sql } from '../../../db/index.ts';
import { randomBase62 } from '../../../lib/base62.ts';

/** An app as every operation needs it. */
export interface KnownApp {
  readonly tenant: string;
  readonly id: string;
  readonly name: string;
  readonly settings: AppSettings;
}

/** Every statement that finds a tenant before anything is looked up in it. */
export const directoryStore = (sql: Sql) => ({
  async tenantOf(tag: string): Promise<string | undefined> {
    const [found] = await sql<{ tenant_id: string }[]>`
      select tenant_id from auth.tenants where tag = ${tag}`;
    return found?.tenant_id;
  },

  /** Returns the tag of a tenant's tokens, assigned with the first token. A tag that is already taken is drawn again. */
  async tagOf(tenant: string): Promise<string> {
    for (;;) {
      const [known] = await sql<{ tag: string }[]>`
        select tag from auth.tenants where tenant_id = ${tenant}`;
      if (known) return known.tag;
      await sql`
        insert into auth.tenants (tag, tenant_id)
        values (${randomBase62(6)}, ${tenant})
        on conflict do nothing`;
    }
  },

  async app(id: string): Promise<KnownApp | undefined> {
    const [app] = await sql<KnownApp[]>`
      select ${columns(sql)}
      from auth.directory
      join auth.apps on apps.tenant_id = directory.tenant_id and apps.id = directory.id
      where directory.id = ${id} and apps.deleted_at is null`;
    return app;
  },

  async appOfKey(key: string): Promise<KnownApp | undefined> {
    const [app] = await sql<KnownApp[]>`
      select ${columns(sql)}
      from auth.publishable_keys
      join auth.apps on apps.tenant_id = publishable_keys.tenant_id and apps.id = publishable_keys.app_id
      where publishable_keys.key = ${key} and apps.deleted_at is null`;
    return app;
  },

  async defaultApp(tenant: string): Promise<KnownApp | undefined> {
    const [app] = await sql<KnownApp[]>`
      select ${columns(sql)}
      from auth.apps
      where apps.tenant_id = ${tenant} and apps.is_default and apps.deleted_at is null`;
    return app;
  },
});

const columns = (sql: Sql) => sql`apps.tenant_id as tenant, apps.id, apps.name, apps.settings`;
