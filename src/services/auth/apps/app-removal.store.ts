import type { Sql } from '../../../db/index.ts';

/** Tables of records that belong to a user of an app and are found by the user's id. */
const ofUsers = [
  'devices',
  'enrollments',
  'recovery_codes',
  'challenges',
  'assignments',
  'team_members',
  'members',
  'oidc',
  'security_notices',
];

/** Tables of records that belong to an app directly; deleting these records also deletes what belongs to them. */
const ofApps = [
  'roles',
  'organizations',
  'forms',
  'branding',
  'webhooks',
  'messages',
  'requests',
  'one_time',
  'registration_counts',
];

export interface DeletedApp {
  readonly tenant: string;
  readonly id: string;
}

/** Every statement that removes the records that a deleted app leaves behind. */
export const appRemovalStore = (sql: Sql) => ({
  /** Finds an app that was deleted over a minute ago: by now no process still treats it as existing. */
  async find(): Promise<DeletedApp | undefined> {
    const [app] = await sql<DeletedApp[]>`
      select tenant_id as tenant, id from auth.apps
      where deleted_at < now() - interval '1 minute'
      order by deleted_at
      limit 1`;
    return app;
  },

  /** Removes up to `limit` users with their records; returns how many. */
  async removeUsers({ tenant, id }: DeletedApp, limit: number): Promise<number> {
    const rows = await sql<{ id: string }[]>`
      select id from auth.users where tenant_id = ${tenant} and app_id = ${id} limit ${limit}`;
    const ids = rows.map((row) => row.id);
    for (const table of ofUsers)
      await sql`delete from ${sql(`auth.${table}`)} where tenant_id = ${tenant} and user_id = any(${ids}::text[])`;
    await sql`
      with gone as (
        delete from auth.sessions where tenant_id = ${tenant} and user_id = any(${ids}::text[]) returning id
      )
      delete from auth.spent_refresh where tenant_id = ${tenant} and session_id in (select id from gone)`;
    await sql`delete from auth.users where tenant_id = ${tenant} and id = any(${ids}::text[])`;
    return ids.length;
  },

  /** Removes up to `limit` OAuth clients with their tokens; returns how many. */
  async removeClients({ tenant, id }: DeletedApp, limit: number): Promise<number> {
    const rows = await sql<{ id: string }[]>`
      select id from auth.clients where tenant_id = ${tenant} and app_id = ${id} limit ${limit}`;
    const ids = rows.map((row) => row.id);
    await sql`delete from auth.oidc where client_id = any(${ids}::text[])`;
    await sql`delete from auth.directory where tenant_id = ${tenant} and id = any(${ids}::text[])`;
    await sql`delete from auth.clients where tenant_id = ${tenant} and id = any(${ids}::text[])`;
    return ids.length;
  },

  /** Removes up to `limit` records of each other kind; returns the count of the most frequent kind. */
  async removeRecords({ tenant, id }: DeletedApp, limit: number): Promise<number> {
    let most = 0;
    for (const name of ofApps) {
      const table = sql(`auth.${name}`);
      const { count } = await sql`
        delete from ${table}
        where ctid = any(array(
          select ctid from ${table} where tenant_id = ${tenant} and app_id = ${id} limit ${limit}
        ))`;
      most = Math.max(most, count);
    }
    return most;
  },

  /** Removes the app itself once nothing belongs to it any more. */
  async removeApp({ tenant, id }: DeletedApp): Promise<void> {
    await sql`delete from auth.publishable_keys where tenant_id = ${tenant} and app_id = ${id}`;
    await sql`delete from auth.directory where tenant_id = ${tenant} and id = ${id}`;
    await sql`delete from auth.apps where tenant_id = ${tenant} and id = ${id}`;
  },
});
