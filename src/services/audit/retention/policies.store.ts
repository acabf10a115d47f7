import type { RetentionPolicy } from '../../../../generated/audit/types.ts';
import type { Sql } from '../../../db/index.ts';
import { isInView, type View } from '../../../db/view.ts';
import { NotFound } from '../../../lib/errors.ts';

export interface NewPolicy extends Pick<RetentionPolicy, 'id' | 'category' | 'duration'> {
  readonly tenant_id: string;
  readonly app_id: string;
  readonly duration_ms: number;
  readonly archive: boolean;
}

/** A policy with what its enforcement needs. */
export interface DuePolicy extends NewPolicy {
  /** The categories that have policies of their own, for the policy of all others. */
  readonly others: readonly string[];
}

/** Every statement about retention policies. */
export const policyStore = (sql: Sql) => ({
  /** Stores the policy of a category, under the id of the one before. */
  async put(policy: NewPolicy): Promise<RetentionPolicy> {
    const [stored] = await sql<[RetentionPolicy]>`
      insert into audit.retention_policies as existing (tenant_id, id, app_id, category, duration, duration_ms, archive)
      values (
        ${policy.tenant_id}, ${policy.id}, ${policy.app_id}, ${policy.category}, ${policy.duration}, ${policy.duration_ms},
        ${policy.archive}
      )
      on conflict on constraint retention_policies_category_key do update
        set duration = excluded.duration, duration_ms = excluded.duration_ms, archive = excluded.archive, updated_at = now()
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

  /** @throws NotFound */
  async delete(tenant: string, id: string): Promise<void> {
    const { count } =
      await sql`delete from audit.retention_policies where tenant_id = ${tenant} and id = ${id}`;
    if (count === 0) throw NotFound('retention policy');
  },

  /** The policies of a view, or without one those of everybody, one after the other by id. */
  async due(view: View | undefined, after: string, most: number): Promise<DuePolicy[]> {
    return await sql<DuePolicy[]>`
      select id, tenant_id, app_id, category, duration, duration_ms, archive, array(
        select category from audit.retention_policies as other
        where other.tenant_id = policy.tenant_id and other.app_id = policy.app_id and other.category <> '*'
      ) as others
      from audit.retention_policies as policy
      where id > ${after} ${view === undefined ? sql`` : sql`and ${isInView(sql, view)}`}
      order by id limit ${most}`;
  },

  /** Locks a policy until the end of the transaction, if it is still the same. Nobody else enforces it meanwhile. */
  async lock({ tenant_id, id, duration_ms, archive }: DuePolicy): Promise<boolean> {
    const rows = await sql`
      select from audit.retention_policies
      where tenant_id = ${tenant_id} and id = ${id} and duration_ms = ${duration_ms} and archive = ${archive} for update`;
    return rows.length > 0;
  },
});

const shown = (sql: Sql) => sql`id, category, duration, archive, app_id, tenant_id, created_at, updated_at`;
