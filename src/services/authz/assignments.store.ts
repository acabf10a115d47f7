import type { Assignment } from '../../../generated/authz/types.ts';
import type { Sql } from '../../db/index.ts';
import { followsPrevious, onePage, type PlaceIn, type Window } from '../../db/lists.ts';
import { NotFound } from '../../lib/errors.ts';
import type { AssignmentFact } from './engine/types.ts';
import { mostExamined, type newestIdFirst } from './lists.ts';

export type NewAssignment = Omit<Assignment, 'role_slug' | 'created_at'>;

export interface AssignmentFilter {
  readonly subject_kind?: string | undefined;
  readonly subject_id?: string | undefined;
  readonly role_id?: string | undefined;
  readonly resource_type?: string | undefined;
  readonly resource_id?: string | undefined;
}

/** Every statement about assignments. Expired assignments, and those of deleted roles, count as absent. */
export const assignmentStore = (sql: Sql) => ({
  async get(tenant: string, id: string): Promise<Assignment> {
    const [assignment] = await sql<Assignment[]>`
      select ${columns(sql)}
      from authz.assignments a
      join authz.roles r on r.tenant_id = a.tenant_id and r.id = a.role_id
      where a.tenant_id = ${tenant} and a.id = ${id} and ${live(sql)}`;
    if (!assignment) throw NotFound('assignment');
    return assignment;
  },

  /** Returns assignments newest first and examines at most `mostExamined` rows. `lastExamined` says where the next page continues. */
  async list(
    tenant: string,
    filter: AssignmentFilter,
    window: Window<typeof newestIdFirst>,
  ): Promise<Assignment[]> {
    return await sql<Assignment[]>`
      select
        id, tenant_id, app_id, role_id, role_slug, subject_kind, subject_id, resource_type, resource_id, expires_at,
        created_by, revision, created_at
      from (
        select
          a.id, a.tenant_id, a.app_id, a.role_id, a.subject_kind, a.subject_id, a.resource_type, a.resource_id,
          a.expires_at, a.created_by, a.revision, a.created_at,
          (select slug from authz.roles r where r.tenant_id = a.tenant_id and r.id = a.role_id) as role_slug
        from authz.assignments a
        where ${indexed(sql, tenant, filter)} ${followsPrevious(sql, window, 'a')}
        order by a.id desc
        limit ${mostExamined}
      ) a
      where role_slug is not null and ${live(sql)} and ${matches(sql, filter)}
      ${onePage(sql, window)}`;
  },

  /** Returns the last id that `list` examined, when `list` stopped with rows left to examine. */
  async lastExamined(
    tenant: string,
    filter: AssignmentFilter,
    window: Window<typeof newestIdFirst>,
  ): Promise<PlaceIn<typeof newestIdFirst> | undefined> {
    const rows = await sql<{ id: string }[]>`
      select a.id
      from authz.assignments a
      where ${indexed(sql, tenant, filter)} ${followsPrevious(sql, window, 'a')}
      order by a.id desc
      limit 2
      offset ${mostExamined - 1}`;
    return rows.length === 2 ? rows[0] : undefined;
  },

  /**
   * Inserts an assignment, replacing an expired twin. Returns undefined when an unexpired twin exists. `replaced` says whether
   * the number of rows stayed the same.
   */
  async insert(assignment: NewAssignment): Promise<(Assignment & { replaced: boolean }) | undefined> {
    const [stored] = await sql<(Assignment & { replaced: boolean })[]>`
      with a as (
        insert into authz.assignments as held (
          id, tenant_id, app_id, role_id, subject_kind, subject_id, resource_type, resource_id, expires_at, created_by,
          revision
        )
        values (
          ${assignment.id}, ${assignment.tenant_id}, ${assignment.app_id}, ${assignment.role_id},
          ${assignment.subject_kind}, ${assignment.subject_id}, ${assignment.resource_type}, ${assignment.resource_id},
          ${assignment.expires_at}, ${assignment.created_by}, ${assignment.revision}
        )
        on conflict on constraint assignments_once do update
          set
            id = excluded.id, app_id = excluded.app_id, expires_at = excluded.expires_at,
            created_by = excluded.created_by, revision = excluded.revision, created_at = excluded.created_at
          where held.expires_at <= clock_timestamp()
        returning
          id, tenant_id, app_id, role_id, subject_kind, subject_id, resource_type, resource_id, expires_at, created_by,
          revision, created_at, xmax <> 0 as replaced
      )
      select ${columns(sql)}, a.replaced
      from a
      join authz.roles r on r.tenant_id = a.tenant_id and r.id = a.role_id`;
    return stored;
  },

  async delete(tenant: string, id: string): Promise<void> {
    await sql`
      delete from authz.assignments
      where tenant_id = ${tenant} and id = ${id}`;
  },

  /** Streams all assignments in chunks, for a model that holds all facts. */
  facts(tenant: string, chunk: number): AsyncIterable<AssignmentFact[]> {
    return sql<AssignmentFact[]>`
      select id, role_id, subject_kind, subject_id, resource_type, resource_id, expires_at
      from authz.assignments
      where tenant_id = ${tenant}`.cursor(chunk);
  },

  /** Removes up to `limit` expired assignments of the given tenants, whose row locks the caller holds. */
  async deleteExpired(tenants: readonly string[], limit: number): Promise<Assignment[]> {
    return await sql<Assignment[]>`
      with gone as (
        delete from authz.assignments
        where (tenant_id, id) in (
          select tenant_id, id
          from authz.assignments
          where tenant_id = any(${tenants}::text[]) and expires_at <= now()
          order by expires_at
          limit ${limit}
        )
        returning
          id, tenant_id, app_id, role_id, subject_kind, subject_id, resource_type, resource_id, expires_at, created_by,
          revision, created_at
      )
      select ${columns(sql)}
      from gone a
      left join authz.roles r on r.tenant_id = a.tenant_id and r.id = a.role_id`;
  },
});

const columns = (sql: Sql) => sql`
  a.id, a.tenant_id, a.app_id, a.role_id, r.slug as role_slug, a.subject_kind, a.subject_id, a.resource_type,
  a.resource_id, a.expires_at, a.created_by, a.revision, a.created_at`;

const live = (sql: Sql) => sql`(a.expires_at is null or a.expires_at > now())`;

/** The part of a filter that an index answers in id order. `matches` checks the rows that remain. */
function indexed(sql: Sql, tenant: string, filter: AssignmentFilter) {
  if (filter.subject_id !== undefined)
    return sql`a.tenant_id = ${tenant} and a.subject_kind = ${filter.subject_kind ?? ''}
      and a.subject_id = ${filter.subject_id}`;
  if (filter.role_id !== undefined) return sql`a.tenant_id = ${tenant} and a.role_id = ${filter.role_id}`;
  if (filter.resource_id !== undefined)
    return sql`a.tenant_id = ${tenant} and a.resource_type = ${filter.resource_type ?? ''}
      and a.resource_id = ${filter.resource_id}`;
  return sql`a.tenant_id = ${tenant}`;
}

function matches(sql: Sql, filter: AssignmentFilter) {
  const { subject_kind = null, role_id = null, resource_type = null, resource_id = null } = filter;
  return sql`(${subject_kind}::text is null or subject_kind = ${subject_kind})
    and (${role_id}::text is null or role_id = ${role_id})
    and (${resource_type}::text is null or resource_type = ${resource_type})
    and (${resource_id}::text is null or resource_id = ${resource_id})`;
}
