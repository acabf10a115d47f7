import type { RetentionPolicy } from '../../../../generated/audit/types.ts';
import type { Sql } from '../../../db/index.ts';
import { isInView, type View } from '../../../db/view.ts';
import { NotFound } from '../../../lib/errors.ts';

export interface NewPolicy extends Pick<RetentionPolicy, 'id' | 'category' | 'duration' | 'set_by'> {
  readonly tenant_id: string;
  readonly app_id: string;
  readonly duration_ms: number;
  readonly archive: boolean;
}

/** A policy with what its enforcement needs. */
export interface DuePolicy extends Omit<NewPolicy, 'set_by'> {
  /** The categories that have policies of their own that count, for the policy of all others. */
  readonly others: readonly string[];
}

/** Every statement about retention policies. */
export const policyStore = (sql: Sql) => ({
  /** Stores the policy of a category, under the id of the one before. Undefined when that one is the operator's, and this one is not. */
  async put(policy: NewPolicy): Promise<RetentionPolicy | undefined> {
    const [stored] = await sql<RetentionPolicy[]>`
      insert into audit.retention_policies as existing (tenant_id, id, app_id, category, duration, duration_ms, archive, set_by)
      values (
        ${policy.tenant_id}, ${policy.id}, ${policy.app_id}, ${policy.category}, ${policy.duration}, ${policy.duration_ms},
        ${policy.archive}, ${policy.set_by}
      )
      on conflict on constraint retention_policies_category_key do update
        set duration = excluded.duration, duration_ms = excluded.duration_ms, archive = excluded.archive, set_by = excluded.set_by,
          updated_at = now()
        where existing.set_by = 'tenant' or excluded.set_by = 'operator'
      returning ${shown(sql)}`;
    return stored;
  },

  /** Counts the tenant's policies for other categories, and lets writers that add one wait for the end of the transaction. */
  async countOthers(tenant: string, app: string, category: string): Promise<number> {
    await sql`select from audit.streams where tenant_id = ${tenant} and app_id = ${app} for no key update`;
    const [row] = await sql<[{ count: number }]>`
      select count(*) as count from audit.retention_policies
      where tenant_id = ${tenant} and app_id = ${app} and category <> ${category}`;
    return row.count;
  },

  /** Whether the operator decides for all categories of a tenant. */
  async isDecided(tenant: string, app: string): Promise<boolean> {
    const rows = await sql`
      select from audit.retention_policies
      where tenant_id = ${tenant} and app_id = ${app} and category = '*' and set_by = 'operator'`;
    return rows.length > 0;
  },

  async list(view: View, most: number): Promise<RetentionPolicy[]> {
    return await sql<RetentionPolicy[]>`
      select ${shown(sql)} from audit.retention_policies where ${isInView(sql, view)} order by id desc limit ${most}`;
  },

  /** @throws NotFound */
  async get(view: View, id: string): Promise<RetentionPolicy> {
    const [row] = await sql<RetentionPolicy[]>`
      select ${shown(sql)} from audit.retention_policies where id = ${id} and ${isInView(sql, view)}`;
    if (row === undefined) throw NotFound('retention policy');
    return row;
  },

  /** Returns what is deleted. @throws NotFound */
  async delete(tenant: string, id: string): Promise<RetentionPolicy> {
    const [row] = await sql<RetentionPolicy[]>`
      delete from audit.retention_policies where tenant_id = ${tenant} and id = ${id} returning ${shown(sql)}`;
    if (row === undefined) throw NotFound('retention policy');
    return row;
  },

  /** The policies of a view, or without one those of everybody, one after the other by id. */
  async due(view: View | undefined, after: string, most: number): Promise<DuePolicy[]> {
    return await sql<DuePolicy[]>`
      select id, tenant_id, app_id, category, duration, duration_ms, archive, array(
        select category from audit.retention_policies as other
        where other.tenant_id = policy.tenant_id and other.app_id = policy.app_id and other.category <> '*'
          and (other.set_by = 'operator' or policy.set_by = 'tenant')
      ) as others
      from audit.retention_policies as policy
      where id > ${after} and not ${isOverruled(sql)} ${view === undefined ? sql`` : sql`and ${isInView(sql, view)}`}
      order by id limit ${most}`;
  },

  /** Locks a policy until the end of the transaction, if it is still the same. Nobody else enforces it meanwhile. */
  async lock({ tenant_id, id, duration_ms, archive }: DuePolicy): Promise<boolean> {
    const rows = await sql`
      select from audit.retention_policies as policy
      where tenant_id = ${tenant_id} and id = ${id} and duration_ms = ${duration_ms} and archive = ${archive} and not ${isOverruled(sql)}
      for update`;
    return rows.length > 0;
  },
});

/** Whether a policy is the tenant's where the operator decides for all categories, also if he did so later. */
const isOverruled = (sql: Sql) => sql`(policy.set_by = 'tenant' and exists (
  select from audit.retention_policies as decided
  where decided.tenant_id = policy.tenant_id and decided.app_id = policy.app_id and decided.category = '*'
    and decided.set_by = 'operator'
))`;

const shown = (sql: Sql) =>
  sql`id, category, duration, archive, set_by, app_id, tenant_id, created_at, updated_at`;
