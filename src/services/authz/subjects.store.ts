import type { SubjectRole } from '../../../generated/authz/types.ts';
import type { Sql } from '../../db/index.ts';

export interface SubjectRoleFilter {
  readonly resource_type?: string | undefined;
  readonly resource_id?: string | undefined;
  readonly inherited: boolean;
}

/** A page of the list, which is in the order of slugs; a role can be in it several times. */
export interface SlugWindow {
  readonly limit: number;
  readonly offset: number;
  readonly after: { readonly slug: string; readonly via: string; readonly assignment: string } | null;
}

/** Every statement about what a subject holds. */
export const subjectStore = (sql: Sql) => ({
  /** The roles of a subject that apply to a resource, by slug; cost follows the assignments of the subject. */
  async listRoles(
    tenant: string,
    kind: string,
    id: string,
    {
      resource_type = null,
      resource_id = null,
      inherited,
    }: { [Name in keyof SubjectRoleFilter]: SubjectRoleFilter[Name] | null },
    { limit, offset, after }: SlugWindow,
  ): Promise<SubjectRole[]> {
    return await sql<SubjectRole[]>`
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
      ), listed as (
        select role_id, via, assignment_id, resource_type, resource_id, expires_at
        from held
        union all
        select id, 'inherited', null, null, null, null
        from ancestors
        where id not in (select role_id from held)
      )
      select
        r.id, r.tenant_id, r.app_id, r.name, r.slug, r.description, r.parent_id, r.is_system, r.is_default, r.metadata,
        r.revision, r.created_at, r.updated_at, l.via, l.assignment_id, l.resource_type, l.resource_id, l.expires_at
      from listed l
      join authz.roles r on r.tenant_id = ${tenant} and r.id = l.role_id
      where (${after?.slug ?? null}::text is null
        or (r.slug, l.via, coalesce(l.assignment_id, ''))
          > (${after?.slug ?? null}, ${after?.via ?? null}, ${after?.assignment ?? null}))
      order by r.slug, l.via, coalesce(l.assignment_id, '')
      limit ${limit + 1}
      offset ${offset}`;
  },
});
