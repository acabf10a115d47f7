import type { SubjectRole } from '../../../generated/authz/types.ts';
import type { Sql } from '../../db/index.ts';
import { followsPrevious, onePage, type Order, type Window } from '../../db/lists.ts';

export interface SubjectRoleFilter {
  readonly resource_type?: string | undefined;
  readonly resource_id?: string | undefined;
  readonly inherited: boolean;
}

/** The order of the list. A role can be in it several times. */
export const bySlug = {
  columns: { slug: 'string', via: 'string', assignment: 'string' },
  direction: 'asc',
} as const satisfies Order;

/** A role with its position in the list. `assignment` is the id of the assignment, or empty when the role comes from none. */
export type PlacedRole = SubjectRole & { readonly assignment: string };

/** Every statement about what a subject holds. */
export const subjectStore = (sql: Sql) => ({
  /** Returns the roles of a subject that apply to a resource, by slug. The cost grows with the subject's assignments. */
  async listRoles(
    tenant: string,
    kind: string,
    id: string,
    {
      resource_type = null,
      resource_id = null,
      inherited,
    }: { [Name in keyof SubjectRoleFilter]: SubjectRoleFilter[Name] | null },
    window: Window<typeof bySlug>,
  ): Promise<PlacedRole[]> {
    return await sql<PlacedRole[]>`
      with recursive held as (
        select role_id, 'assigned' as via, id as assignment_id, resource_type, resource_id, expires_at
        from authz.assignments
        where tenant_id = ${tenant} and subject_kind = ${kind} and subject_id = ${id}
          and (expires_at is null or expires_at > now())
          and (${resource_type}::text is null or resource_type is null or resource_type = ${resource_type}
            and (resource_id is null or resource_id = ${resource_id}))
        union all
        select id, 'default', null, null, null, null
        from authz.roles
        where tenant_id = ${tenant} and is_default and ${kind} = 'user'
      ), ancestors as (
        select r.parent_id as id
        from held
        join authz.roles r on r.tenant_id = ${tenant} and r.id = held.role_id
        where ${inherited} and r.parent_id is not null
        union
        select r.parent_id
        from ancestors
        join authz.roles r on r.tenant_id = ${tenant} and r.id = ancestors.id
        where r.parent_id is not null
      ), found as (
        select role_id, via, assignment_id, resource_type, resource_id, expires_at
        from held
        union all
        select id, 'inherited', null, null, null, null
        from ancestors
        where id not in (select role_id from held)
      ), listed as (
        select
          r.id, r.tenant_id, r.app_id, r.name, r.slug, r.description, r.parent_id, r.is_system, r.is_default, r.metadata,
          r.revision, r.created_at, r.updated_at, f.via, f.assignment_id, coalesce(f.assignment_id, '') as assignment,
          f.resource_type, f.resource_id, f.expires_at
        from found f
        join authz.roles r on r.tenant_id = ${tenant} and r.id = f.role_id
      )
      select
        id, tenant_id, app_id, name, slug, description, parent_id, is_system, is_default, metadata, revision, created_at,
        updated_at, via, assignment_id, assignment, resource_type, resource_id, expires_at
      from listed
      where true ${followsPrevious(sql, window)}
      ${onePage(sql, window)}`;
  },
});
