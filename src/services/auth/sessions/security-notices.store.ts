import type { Sql } from '../../../db/index.ts';
import type { AccountChange } from '../directory/account-changes.ts';

/** Every statement about notices to account owners, and about the device trust that ends with the reported changes. */
export const securityNoticeStore = (sql: Sql) => ({
  /** Counts one notice of each kind before it is sent; returns the number of each kind in the current period. */
  async count(
    tenant: string,
    userId: string,
    kinds: readonly AccountChange[],
    seconds: number,
  ): Promise<{ kind: AccountChange; sent: number }[]> {
    return await sql<{ kind: AccountChange; sent: number }[]>`
      insert into auth.security_notices (tenant_id, user_id, kind)
      select ${tenant}, ${userId}, kind from unnest(${sql.array([...kinds])}::text[]) as kind order by kind
      on conflict on constraint security_notices_kind do update
      set sent = case
            when security_notices.began_at > now() - ${seconds} * interval '1 second'
              then least(security_notices.sent, 1000000) + 1
            else 1
          end,
          began_at = case
            when security_notices.began_at > now() - ${seconds} * interval '1 second' then security_notices.began_at
            else now()
          end
      returning kind, sent`;
  },

  /** The owner's email address, and the name of the app. */
  async addressee(
    tenant: string,
    app: string,
    userId: string,
  ): Promise<{ email: string | null; app_name: string } | undefined> {
    const [found] = await sql<{ email: string | null; app_name: string }[]>`
      select users.email, apps.name as app_name
      from auth.users
      join auth.apps on apps.tenant_id = users.tenant_id and apps.id = users.app_id
      where users.tenant_id = ${tenant} and users.app_id = ${app} and users.id = ${userId}`;
    return found;
  },

  async endTrust(tenant: string, userId: string): Promise<void> {
    await sql`
      update auth.devices set trusted_until = null
      where tenant_id = ${tenant} and user_id = ${userId} and trusted_until is not null`;
  },

  /** Deletes counts whose period is over. Returns how many, at most `batch`. */
  async forget(batch: number, seconds: number): Promise<number> {
    const { count } = await sql`
      delete from auth.security_notices
      where (tenant_id, user_id, kind) in (
        select tenant_id, user_id, kind from auth.security_notices
        where began_at <= now() - ${seconds} * interval '1 second'
        limit ${batch}
      )`;
    return count;
  },
});
