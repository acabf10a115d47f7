import type { Sql } from '../../../db/index.ts';

/** An organization that the erased user is a member of. */
export interface LeftOrganization {
  readonly org_id: string;
  readonly alone: boolean;
  readonly last_owner: boolean;
}

/** Every statement that erases a user. */
export const erasureStore = (sql: Sql) => ({
  /** Returns the user's organizations, whose members are locked against other changes until the end of the transaction. */
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

  /** Makes the oldest admin an owner, or the oldest member if there is no admin; returns the new owner. */
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

  /** The sessions in which the user impersonates another user. */
  async impersonationsBy(tenant: string, userId: string): Promise<string[]> {
    const rows = await sql<{ id: string }[]>`
      select id from auth.sessions where tenant_id = ${tenant} and impersonated_by = ${userId}`;
    return rows.map(({ id }) => id);
  },

  /** This includes sessions in which the user impersonated somebody: they hold the user's IP address. */
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

  /** Reduces events about the user, and copies still being delivered, to the members that refer to things by id. */
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

  /** Deletes messages to the user or to their addresses, with the codes and tokens in them. */
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

  /** Deletes invitations to the user's address in the app; invitations that the user sent stay, without an inviter. */
  async deleteInvitations(tenant: string, app: string, userId: string, email: string | null): Promise<void> {
    await sql`
      delete from auth.invitations
      where tenant_id = ${tenant} and email = ${email}
        and org_id in (select id from auth.organizations where tenant_id = ${tenant} and app_id = ${app})`;
    await sql`
      update auth.invitations set invited_by = null where tenant_id = ${tenant} and invited_by = ${userId}`;
  },

  /** Deletes records that belong only to the user. */
  async deleteBelongings(tenant: string, userId: string): Promise<void> {
    for (const table of [
      'devices',
      'enrollments',
      'recovery_codes',
      'challenges',
      'assignments',
      'oidc',
      'security_notices',
    ])
      await sql`delete from ${sql(`auth.${table}`)} where tenant_id = ${tenant} and user_id = ${userId}`;
  },

  /** Deletes the account itself; a record of its erasure is kept. */
  async deleteUser(tenant: string, app: string, id: string): Promise<void> {
    await sql`delete from auth.users where tenant_id = ${tenant} and app_id = ${app} and id = ${id}`;
    await sql`
      insert into auth.erased (tenant_id, user_id) values (${tenant}, ${id}) on conflict do nothing`;
  },
});
