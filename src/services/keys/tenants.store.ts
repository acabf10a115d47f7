import type { Sql } from '../../db/index.ts';
import { makeTag } from './validation/raw-key.ts';

/** Every statement about the tags of tenants. */
export const tenantStore = (sql: Sql) => ({
  /** Returns the tag of a tenant, which it gets with its first key. */
  async tagOf(tenant: string): Promise<string> {
    const [known] = await sql<{ tag: string }[]>`
      select tag from keys.tenants where tenant_id = ${tenant}`;
    return known?.tag ?? (await this.giveTag(tenant));
  },

  /** Draws a tag, and draws again when the tag is taken. The first tag stored for a tenant wins. */
  async giveTag(tenant: string): Promise<string> {
    await sql`
      insert into keys.tenants (tag, tenant_id)
      values (${makeTag()}, ${tenant})
      on conflict do nothing`;
    return await this.tagOf(tenant);
  },

  /** Serialises the key creations of a tenant until the end of the transaction. */
  async lock(tenant: string): Promise<void> {
    await sql`
      select tag from keys.tenants where tenant_id = ${tenant} for update`;
  },
});
