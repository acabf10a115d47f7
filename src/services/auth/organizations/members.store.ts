import type { Member, OrgRole } from '../../../../generated/auth/types.ts';
import { constrained } from '../../../db/constraints.ts';
import type { Sql } from '../../../db/index.ts';
import { followsPrevious, onePage, type Window } from '../../../db/lists.ts';
import { NotFound } from '../../../lib/errors.ts';
import { constraints } from '../errors.ts';

export interface NewMember extends Pick<Member, 'id' | 'org_id' | 'user_id' | 'role'> {
  readonly tenant_id: string;
}

/** The members whose email addresses the caller sees. */
export interface Sight {
  /** All members. */
  readonly all: boolean;
  /** Members who accepted an invitation to their current address. */
  readonly invited: boolean;
  /** The caller's own user id. */
  readonly self: string | null;
}

/** Every statement about members of an organization. The statements maintain its `member_count`. */
export const memberStore = (sql: Sql) => ({
  /** Returns the email of a user of the app, locked against removal until the end of the transaction; undefined when there is none. */
  async holdUser(
    tenant: string,
    app: string,
    userId: string,
  ): Promise<{ email: string | null; email_verified: boolean } | undefined> {
    const [user] = await sql<{ email: string | null; email_verified: boolean }[]>`
      select email, email_verified
      from auth.users
      where tenant_id = ${tenant} and app_id = ${app} and id = ${userId}
      for key share`;
    return user;
  },

  async insert(member: NewMember, sight: Sight): Promise<Member> {
    const [inserted] = await constrained(
      constraints,
      sql<[Member]>`
        with members as (
          insert into auth.members (id, tenant_id, org_id, user_id, role)
          values (${member.id}, ${member.tenant_id}, ${member.org_id}, ${member.user_id}, ${member.role})
          returning *
        ), counted as (
          update auth.organizations set member_count = member_count + 1, updated_at = now()
          where tenant_id = ${member.tenant_id} and id = ${member.org_id}
        )
        select ${columns(sql, sight)}
        from members
        join auth.users on users.tenant_id = members.tenant_id and users.id = members.user_id`,
    );
    return inserted;
  },

  async get(tenant: string, orgId: string, id: string, sight: Sight): Promise<Member> {
    const [member] = await sql<Member[]>`
      select ${columns(sql, sight)}
      from auth.members
      join auth.users on users.tenant_id = members.tenant_id and users.id = members.user_id
      where members.tenant_id = ${tenant} and members.org_id = ${orgId} and members.id = ${id}`;
    if (!member) throw NotFound('member');
    return member;
  },

  /** Lists the newest first; returns one more than `limit` when more follow. */
  async list(
    tenant: string,
    orgId: string,
    { role, sight }: { readonly role: OrgRole | undefined; readonly sight: Sight },
    window: Window,
  ): Promise<Member[]> {
    return await sql<Member[]>`
      select ${columns(sql, sight)}
      from auth.members
      join auth.users on users.tenant_id = members.tenant_id and users.id = members.user_id
      where members.tenant_id = ${tenant} and members.org_id = ${orgId}
        ${role === undefined ? sql`` : sql`and members.role = ${role}`}
        ${followsPrevious(sql, window, 'members')}
      ${onePage(sql, window, 'members')}`;
  },

  /** Whether the organization has an owner besides this member. */
  async hasOtherOwner(tenant: string, orgId: string, id: string): Promise<boolean> {
    const [{ found }] = await sql<[{ found: boolean }]>`
      select exists (
        select from auth.members
        where tenant_id = ${tenant} and org_id = ${orgId} and role = 'owner' and id <> ${id}
      ) as found`;
    return found;
  },

  async hasEmail(tenant: string, orgId: string, email: string): Promise<boolean> {
    const [{ found }] = await sql<[{ found: boolean }]>`
      select exists (
        select from auth.users
        join auth.members on members.tenant_id = users.tenant_id and members.user_id = users.id
        join auth.organizations on organizations.tenant_id = members.tenant_id and organizations.id = members.org_id
        where users.tenant_id = ${tenant} and users.app_id = organizations.app_id and users.email = ${email}
          and organizations.id = ${orgId}
      ) as found`;
    return found;
  },

  async setRole(tenant: string, orgId: string, id: string, role: OrgRole): Promise<void> {
    await sql`
      update auth.members set role = ${role}, updated_at = now()
      where tenant_id = ${tenant} and org_id = ${orgId} and id = ${id}`;
  },

  /** Removes the user from the organization and from its teams. */
  async delete(tenant: string, orgId: string, userId: string): Promise<void> {
    await sql`
      with gone as (
        delete from auth.team_members
        where tenant_id = ${tenant} and user_id = ${userId}
          and team_id in (select id from auth.teams where tenant_id = ${tenant} and org_id = ${orgId})
        returning team_id
      )
      update auth.teams set member_count = member_count - 1, updated_at = now()
      where tenant_id = ${tenant} and id in (select team_id from gone)`;
    await sql`
      with gone as (
        delete from auth.members
        where tenant_id = ${tenant} and org_id = ${orgId} and user_id = ${userId}
        returning org_id
      )
      update auth.organizations set member_count = member_count - 1, updated_at = now()
      where tenant_id = ${tenant} and id in (select org_id from gone)`;
  },
});

const columns = (sql: Sql, sight: Sight) => sql`
  members.id, members.org_id, members.user_id, members.role,
  jsonb_build_object(
    'id', users.id, 'email', case when ${isSeen(sql, sight)} then users.email end, 'name', users.name, 'image', users.image
  ) as "user",
  members.created_at, members.updated_at`;

/** An address that the user adopted later is not the invited one. */
const isSeen = (sql: Sql, { all, invited, self }: Sight) => sql`(
  ${all}::boolean
  or users.id = ${self}::text
  or ${invited}::boolean and exists (
    select from auth.invitations
    where invitations.tenant_id = members.tenant_id and invitations.org_id = members.org_id
      and invitations.email = users.email and invitations.status = 'accepted'
  )
)`;
