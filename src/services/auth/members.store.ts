import type { Member, OrgRole } from '../../../generated/auth/types.ts';
import { constrained } from '../../db/constraints.ts';
import type { Sql } from '../../db/index.ts';
import type { Place, Window } from '../../http/lists.ts';
import { NotFound } from '../../lib/errors.ts';
import { constraints } from './errors.ts';
import { isAfter } from './lists.store.ts';

export interface NewMember extends Pick<Member, 'id' | 'org_id' | 'user_id' | 'role'> {
  readonly tenant_id: string;
}

/** Every statement about who belongs to an organization. The statements keep its `member_count`. */
export const memberStore = (sql: Sql) => ({
  /** The email of a user of the app, who is not removed for as long as the transaction lasts; undefined where there is none. */
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

  async insert(member: NewMember): Promise<Member> {
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
        select ${columns(sql)}
        from members
        join auth.users on users.tenant_id = members.tenant_id and users.id = members.user_id`,
    );
    return inserted;
  },

  async get(tenant: string, orgId: string, id: string): Promise<Member> {
    const [member] = await sql<Member[]>`
      select ${columns(sql)}
      from auth.members
      join auth.users on users.tenant_id = members.tenant_id and users.id = members.user_id
      where members.tenant_id = ${tenant} and members.org_id = ${orgId} and members.id = ${id}`;
    if (!member) throw NotFound('member');
    return member;
  },

  /** Newest first; one more than `limit` when more follow. */
  async list(
    tenant: string,
    orgId: string,
    { limit, after, role }: Window<Place> & { readonly role: OrgRole | undefined },
  ): Promise<Member[]> {
    return await sql<Member[]>`
      select ${columns(sql)}
      from auth.members
      join auth.users on users.tenant_id = members.tenant_id and users.id = members.user_id
      where members.tenant_id = ${tenant} and members.org_id = ${orgId}
        ${role === undefined ? sql`` : sql`and members.role = ${role}`}
        ${after === null ? sql`` : isAfter(sql, 'members', after)}
      order by members.created_at desc, members.id
      limit ${limit + 1}`;
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

const columns = (sql: Sql) => sql`
  members.id, members.org_id, members.user_id, members.role,
  jsonb_build_object('id', users.id, 'email', users.email, 'name', users.name, 'image', users.image) as "user",
  members.created_at, members.updated_at`;
