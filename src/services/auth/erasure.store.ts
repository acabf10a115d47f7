import type { Sql } from '../../db/index.ts';

/** An organization that the erased user is a member of. */
export interface LeftOrganization {
  readonly org_id: string;
  readonly alone: boolean;
  readonly last_owner: boolean;
}

/** Every statement of the erasure of a user. */
export const erasureStore = (sql: Sql) => ({
  /** The user's organizations, whose members nobody else changes for as long as the transaction lasts. */
  async lockOrganizations(tenant: string, userId: string): Promise<LeftOrganization[]> {
    await sql`
      select from auth.organizations
      where tenant_id = ${tenant}
        and id in (select org_id from auth.members where tenant_id = ${tenant} and user_id = ${userId})
      order by id
      for update`;
    return await sql<LeftOrganization[]>`
      select
        org_id,
        not exists (
          select from auth.members as others
          where others.tenant_id = ${tenant} and others.org_id = own.org_id and others.user_id <> ${userId}
        ) as alone,
        role = 'owner' and not exists (
          select from auth.members as others
          where others.tenant_id = ${tenant} and others.org_id = own.org_id and others.user_id <> ${userId}
            and others.role = 'owner'
        ) as last_owner
      from auth.members as own
      where tenant_id = ${tenant} and user_id = ${userId}
      order by org_id`;
  },

  /** Makes the oldest admin an owner, or without one the oldest member; answers who it is. */
  async passOwnership(
    tenant: string,
    orgId: string,
    userId: string,
  ): Promise<{ member_id: string; user_id: string }> {
    const [heir] = await sql<[{ member_id: string; user_id: string }]>`
      update auth.members set role = 'owner', updated_at = now()
      where tenant_id = ${tenant} and id = (
        select id from auth.members
        where tenant_id = ${tenant} and org_id = ${orgId} and user_id <> ${userId}
        order by role = 'admin' desc, created_at, id
        limit 1
      )
      returning id as member_id, user_id`;
    return heir;
  },

  /** The sessions in which the user acts as somebody else. */
  async impersonationsBy(tenant: string, userId: string): Promise<string[]> {
    const rows = await sql<{ id: string }[]>`
      select id from auth.sessions where tenant_id = ${tenant} and impersonated_by = ${userId}`;
    return rows.map(({ id }) => id);
  },

  /** Also those in which the user acted as somebody else: they hold the user's address. */
  async deleteSessions(tenant: string, userId: string): Promise<void> {
    await sql`
      with gone as (
        delete from auth.sessions
        where tenant_id = ${tenant} and (user_id = ${userId} or impersonated_by = ${userId})
        returning id
      )
      delete from auth.spent_refresh
      where tenant_id = ${tenant} and session_id in (select id from gone)`;
  },

  /** Events about the user keep what names things by id, and so do the copies that are on their way. */
  async forgetEvents(tenant: string, userId: string): Promise<void> {
    await sql`
      with forgotten as (
        update auth.outbox
        set data = (
          select jsonb_object_agg(key, value)
          from jsonb_each(data)
          where key like '%\\_id' or key in ('actor', 'fields', 'impersonated_by', 'method', 'role')
        )
        where tenant_id = ${tenant} and data ->> 'user_id' = ${userId}
        returning id, data
      )
      update auth.deliveries
      set body = jsonb_set(body::jsonb, '{data}', forgotten.data)::text
      from forgotten
      where deliveries.tenant_id = ${tenant} and deliveries.event_id = forgotten.id`;
  },

  /** Messages to the user or to their addresses, with the codes and tokens in them. */
  async deleteMessages(
    tenant: string,
    app: string,
    userId: string,
    addresses: readonly (string | null)[],
  ): Promise<void> {
    const known = addresses.filter((address) => address !== null);
    await sql`
      delete from auth.messages
      where tenant_id = ${tenant}
        and (user_id = ${userId} or (app_id = ${app} and recipient = any(${known}::text[])))`;
    await sql`
      delete from auth.one_time
      where tenant_id = ${tenant} and app_id = ${app} and subject = any(${[userId, ...known]}::text[])`;
    await sql`
      delete from auth.requests
      where tenant_id = ${tenant} and app_id = ${app} and email = any(${known}::text[])`;
  },

  /** Invitations of the user's address in the app; those that the user sent stay, from nobody. */
  async deleteInvitations(tenant: string, app: string, userId: string, email: string | null): Promise<void> {
    await sql`
      delete from auth.invitations
      where tenant_id = ${tenant} and email = ${email}
        and org_id in (select id from auth.organizations where tenant_id = ${tenant} and app_id = ${app})`;
    await sql`
      update auth.invitations set invited_by = null where tenant_id = ${tenant} and invited_by = ${userId}`;
  },

  /** What is nobody's without the user. */
  async deleteBelongings(tenant: string, userId: string): Promise<void> {
    for (const table of ['devices', 'enrollments', 'recovery_codes', 'challenges', 'assignments', 'oidc'])
      await sql`delete from ${sql(`auth.${table}`)} where tenant_id = ${tenant} and user_id = ${userId}`;
  },

  /** The account itself; that it was there is kept. */
  async deleteUser(tenant: string, app: string, id: string): Promise<void> {
    await sql`delete from auth.users where tenant_id = ${tenant} and app_id = ${app} and id = ${id}`;
    await sql`
      insert into auth.erased (tenant_id, user_id) values (${tenant}, ${id}) on conflict do nothing`;
  },
});
