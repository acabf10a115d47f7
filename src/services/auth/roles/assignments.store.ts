import type { UserRole } from '../../../../generated/auth/types.ts';
import type { Sql } from '../../../db/index.ts';
import { NotFound } from '../../../lib/errors.ts';
import { roleColumns } from '../directory/roles.store.ts';

export interface Assignment {
  readonly tenant_id: string;
  readonly user_id: string;
  readonly role_id: string;
  /** Null for an app-wide assignment. */
  readonly org_id: string | null;
}

/** Every statement about who holds which role. */
export const assignmentStore = (sql: Sql) => ({
  /** Returns false if the user already holds the role. */
  async insert({ tenant_id, user_id, role_id, org_id }: Assignment): Promise<boolean> {
    const { count } = await sql`
      insert into auth.assignments (tenant_id, user_id, role_id, org_id)
      values (${tenant_id}, ${user_id}, ${role_id}, ${org_id ?? ''})
      on conflict do nothing`;
    return count > 0;
  },

  /** Assigns the role with the slug to the user, if the app has one; returns its id. */
  async insertBySlug(tenant: string, app: string, userId: string, slug: string): Promise<string | undefined> {
    const [assigned] = await sql<{ role_id: string }[]>`
      with role as (
        select id from auth.roles
        where tenant_id = ${tenant} and app_id = ${app} and slug = ${slug}
        for key share
      )
      insert into auth.assignments (tenant_id, user_id, role_id)
      select ${tenant}, ${userId}, id from role
      returning role_id`;
    return assigned?.role_id;
  },

  /** Removes the role from the user in one organization, or everywhere if none is given; returns the number of removed assignments. */
  async delete(
    tenant: string,
    userId: string,
    roleId: string,
    orgId: string | undefined,
  ): Promise<{ org_id: string | null }[]> {
    return await sql<{ org_id: string | null }[]>`
      delete from auth.assignments
      where tenant_id = ${tenant} and user_id = ${userId} and role_id = ${roleId}
        and (${orgId ?? null}::text is null or org_id = ${orgId ?? null})
      returning nullif(org_id, '') as org_id`;
  },

  /** Checks that the organization belongs to the app, and prevents its removal until the end of the transaction. */
  async holdOrganization(tenant: string, app: string, id: string): Promise<void> {
    const [found] = await sql`
      select from auth.organizations
      where tenant_id = ${tenant} and app_id = ${app} and id = ${id}
      for key share`;
    if (!found) throw NotFound('organization');
  },

  /** The roles of a user, newest assignment first. */
  async rolesOf(tenant: string, userId: string): Promise<UserRole[]> {
    return await sql<UserRole[]>`
      select ${roleColumns(sql)}, nullif(assignments.org_id, '') as org_id
      from auth.assignments
      join auth.roles on roles.tenant_id = assignments.tenant_id and roles.id = assignments.role_id
      where assignments.tenant_id = ${tenant} and assignments.user_id = ${userId}
      order by assignments.created_at desc, roles.id, assignments.org_id
      limit 500`;
  },
});
