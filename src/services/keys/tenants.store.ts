import type { Sql } from '../../db/index.ts';
import { makeTag } from './validation/raw-key.ts';

/** Every statement about the tags of tenants. */
export const tenantStore = (sql: Sql) => ({
  /** The tag of a tenant, given to it with its first key. */
  async tagOf(tenant: string): Promise<string> {
    const [known] = await sql<{ tag: string }[]>`
      select tag from keys.tenants where tenant_id = ${tenant}`;
    return known?.tag ?? (await this.giveTag(tenant));
  },

  /** A tag that is taken already is drawn again; whoever gives the tenant its tag first, wins. */
  async giveTag(tenant: string): Promise<string> {
    await sql`
      insert into keys.tenants (tag, tenant_id)
      values (${makeTag()}, ${tenant})
      on conflict do nothing`;
    return await this.tagOf(tenant);
  },

  /** Puts the creations of keys of a tenant in order until the end of the transaction. */
  async lock(tenant: string): Promise<void> {
    await sql`
      select tag from keys.tenants where tenant_id = ${tenant} for update`;
  },
});
