import type { Sql } from '../../../db/index.ts';

/** Every statement that finds accounts by phone number. */
export const phoneStore = (sql: Sql) => ({
  async owner(tenant: string, app: string, phone: string): Promise<string | undefined> {
    const [user] = await sql<{ id: string }[]>`
      select id from auth.users
      where tenant_id = ${tenant} and app_id = ${app} and phone = ${phone}`;
    return user?.id;
  },

  /** Records that the number belongs to the user. */
  async verify(tenant: string, app: string, userId: string): Promise<void> {
    await sql`
      update auth.users
      set phone_verified = true, updated_at = now()
      where tenant_id = ${tenant} and app_id = ${app} and id = ${userId} and not phone_verified`;
  },
});
