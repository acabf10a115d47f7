import type { Organization, OrgRole } from '../../../../generated/auth/types.ts';
import { constrained } from '../../../db/constraints.ts';
import type { Sql } from '../../../db/index.ts';
import { followsPrevious, onePage, type Window } from '../../../db/lists.ts';
import { constraints } from '../errors.ts';

export interface NewOrganization extends Pick<
  Organization,
  'id' | 'app_id' | 'name' | 'slug' | 'logo' | 'metadata'
> {
  readonly tenant_id: string;
}

/** Every statement about organizations. */
export const organizationStore = (sql: Sql) => ({
  async insert(organization: NewOrganization): Promise<Organization> {
    const [inserted] = await constrained(
      constraints,
      sql<[Organization]>`
        insert into auth.organizations (id, tenant_id, app_id, name, slug, logo, metadata)
        values (
          ${organization.id}, ${organization.tenant_id}, ${organization.app_id}, ${organization.name},
          ${organization.slug}, ${organization.logo}, ${organization.metadata}
        )
        returning ${columns(sql)}`,
    );
    return inserted;
  },

  async find(tenant: string, app: string, id: string): Promise<Organization | undefined> {
    const [organization] = await sql<Organization[]>`
      select ${columns(sql)}
      from auth.organizations
      where tenant_id = ${tenant} and app_id = ${app} and id = ${id}`;
    return organization;
  },

  /** Locks the organization, its members, invitations and teams against other changes until the end of the transaction. */
  async lock(tenant: string, app: string, id: string): Promise<Organization | undefined> {
    const [organization] = await sql<Organization[]>`
      select ${columns(sql)}
      from auth.organizations
      where tenant_id = ${tenant} and app_id = ${app} and id = ${id}
      for update`;
    return organization;
  },

  /** Returns the user's role in the organization; null for non-members. */
  async roleOf(tenant: string, id: string, userId: string): Promise<OrgRole | null> {
    const [member] = await sql<{ role: OrgRole }[]>`
      select role from auth.members where tenant_id = ${tenant} and org_id = ${id} and user_id = ${userId}`;
    return member?.role ?? null;
  },

  /** Lists the organizations of the app, or those of one of its users. Newest first; one more than `limit` when more follow. */
  async list(
    tenant: string,
    app: string,
    { memberId }: { readonly memberId: string | null },
    window: Window,
  ): Promise<Organization[]> {
    return await sql<Organization[]>`
      select ${columns(sql)}
      from auth.organizations
      where tenant_id = ${tenant} and app_id = ${app}
        ${
          memberId === null
            ? sql``
            : sql`and id in (select org_id from auth.members where tenant_id = ${tenant} and user_id = ${memberId})`
        }
        ${followsPrevious(sql, window)}
      ${onePage(sql, window)}`;
  },

  async update(
    tenant: string,
    {
      id,
      app_id,
      name,
      slug,
      logo,
      metadata,
    }: Pick<Organization, keyof NewOrganization & keyof Organization>,
  ): Promise<Organization> {
    const [updated] = await constrained(
      constraints,
      sql<[Organization]>`
        update auth.organizations
        set name = ${name}, slug = ${slug}, logo = ${logo}, metadata = ${metadata}, updated_at = now()
        where tenant_id = ${tenant} and app_id = ${app_id} and id = ${id}
        returning ${columns(sql)}`,
    );
    return updated;
  },

  /** Deletes the organization with its members, invitations and teams. */
  async delete(tenant: string, id: string): Promise<void> {
    await sql`delete from auth.branding where tenant_id = ${tenant} and org_id = ${id}`;
    await sql`delete from auth.organizations where tenant_id = ${tenant} and id = ${id}`;
  },

  /** Deactivates the organization in the sessions of the user, or of all users when `userId` is null. Returns those sessions. */
  async deactivate(tenant: string, id: string, userId: string | null): Promise<{ id: string }[]> {
    return await sql<{ id: string }[]>`
      update auth.sessions set org_id = null
      where tenant_id = ${tenant} and org_id = ${id}
        and (${userId}::text is null or user_id = ${userId})
      returning id`;
  },

  /** Removes the roles held in the organization by the user, or by all users when `userId` is null. Returns the removed ones. */
  async endRoles(
    tenant: string,
    id: string,
    userId: string | null,
  ): Promise<{ user_id: string; role_id: string }[]> {
    return await sql<{ user_id: string; role_id: string }[]>`
      delete from auth.assignments
      where tenant_id = ${tenant} and org_id = ${id}
        and (${userId}::text is null or user_id = ${userId})
      returning user_id, role_id`;
  },
});

const columns = (sql: Sql) => sql`
  organizations.id, organizations.app_id, organizations.name, organizations.slug, organizations.logo,
  organizations.metadata, organizations.member_count, organizations.created_at, organizations.updated_at`;
