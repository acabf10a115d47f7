import type { MfaEnrollment, Organization } from '../../../../generated/auth/types.ts';
import type { Sql } from '../../../db/index.ts';

/** Queries that only an export needs, across resources: all data of one user. */
export const exportStore = (sql: Sql) => ({
  /** The organizations that the user is a member of, most recently joined first. */
  async organizations(tenant: string, userId: string, limit: number): Promise<Organization[]> {
    return await sql<Organization[]>`
      select
        organizations.id, organizations.app_id, organizations.name, organizations.slug, organizations.logo,
        organizations.metadata, organizations.member_count, organizations.created_at, organizations.updated_at
      from auth.members
      join auth.organizations
        on organizations.tenant_id = members.tenant_id and organizations.id = members.org_id
      where members.tenant_id = ${tenant} and members.user_id = ${userId}
      order by members.created_at desc, organizations.id desc
      limit ${limit}`;
  },

  /** The second factors that the user set up and verified. */
  async enrollments(tenant: string, userId: string): Promise<MfaEnrollment[]> {
    return await sql<MfaEnrollment[]>`
      select
        id, method, verified, left(phone, 3) || '*****' || right(phone, 4) as phone, created_at, last_used_at
      from auth.enrollments
      where tenant_id = ${tenant} and user_id = ${userId} and verified
      order by created_at desc, id desc`;
  },
});
