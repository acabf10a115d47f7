import type { Sql } from '../../sql.ts';

/** One version of a workflow as it is registered. */
export interface WorkflowColumns {
  readonly tenant_id: string;
  readonly app_id: string;
  readonly name: string;
  readonly version: number;
  readonly description: string;
  readonly source: 'code' | 'http';
  readonly max_attempts: number;
  readonly timeout_ms: number;
  readonly backoff_type: string;
  readonly backoff_delay_ms: number;
  readonly backoff_max_ms: number;
}

export interface WorkflowRow extends WorkflowColumns {
  readonly updated_at: string;
}

/** Every statement about registered workflows. */
export const workflowStore = (sql: Sql) => ({
  /** Registers a version, or replaces its registration. */
  async put(workflow: WorkflowColumns): Promise<void> {
    await sql`
      insert into jobs.workflow ${sql({ ...workflow })}
      on conflict on constraint workflow_pkey do update set
        description = excluded.description, source = excluded.source, max_attempts = excluded.max_attempts,
        timeout_ms = excluded.timeout_ms, backoff_type = excluded.backoff_type, backoff_delay_ms = excluded.backoff_delay_ms,
        backoff_max_ms = excluded.backoff_max_ms, updated_at = now()`;
  },

  /** A version of a workflow, the highest one if none is named, of the first of these tenants that has the name. */
  async find(
    tenants: readonly string[],
    app: string,
    name: string,
    version?: number,
  ): Promise<WorkflowRow | undefined> {
    const [row] = await sql<WorkflowRow[]>`
      select workflow.* from unnest(${[...tenants]}::text[]) with ordinality as asked(tenant_id, place)
      join jobs.workflow using (tenant_id)
      where app_id = ${app} and name = ${name} ${version === undefined ? sql`` : sql`and version = ${version}`}
      order by place, version desc limit 1`;
    return row;
  },

  /** The sorted names that these tenants have. */
  async names(tenants: readonly string[], app: string, most: number): Promise<string[]> {
    const rows = await sql<{ name: string }[]>`
      select distinct name from jobs.workflow
      where tenant_id = any(${[...tenants]}::text[]) and app_id = ${app} order by name limit ${most}`;
    return rows.map(({ name }) => name);
  },

  /** The number of names that a tenant has, while nobody else registers or removes one there. */
  async lockedCount(tenant: string, app: string): Promise<number> {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`jobs.workflow/${app}/${tenant}`}, 0))`;
    const [row] = await sql<[{ count: number }]>`
      select count(distinct name)::integer as count from jobs.workflow where tenant_id = ${tenant} and app_id = ${app}`;
    return row.count;
  },

  /** Whether a process of the platform has registered the name. */
  async isCode(app: string, name: string): Promise<boolean> {
    const [row] = await sql<[{ found: boolean }]>`
      select exists (
        select from jobs.workflow where tenant_id = 'system' and app_id = ${app} and name = ${name} and source = 'code'
      ) as found`;
    return row.found;
  },

  /** Removes all versions. Returns whether there was one. */
  async delete(tenant: string, app: string, name: string): Promise<boolean> {
    const { count } = await sql`
      delete from jobs.workflow where tenant_id = ${tenant} and app_id = ${app} and name = ${name}`;
    return count > 0;
  },
});
