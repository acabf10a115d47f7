import type { Sql } from '../../db/index.ts';

/** What belongs to a user of an app and is found by the user. */
const ofUsers = [
  'devices',
  'enrollments',
  'recovery_codes',
  'challenges',
  'assignments',
  'team_members',
  'members',
  'oidc',
];

/** What belongs to an app by itself; what belongs to these records goes with them. */
const ofApps = [
  'roles',
  'organizations',
  'forms',
  'branding',
  'webhooks',
  'messages',
  'requests',
  'one_time',
];

export interface DeletedApp {
  readonly tenant: string;
  readonly id: string;
}

/** Every statement that removes what a deleted app leaves behind. */
export const appRemovalStore = (sql: Sql) => ({
  /** An app that was deleted a while ago: by now no process takes it for one that is there. */
  async find(): Promise<DeletedApp | undefined> {
    const [app] = await sql<DeletedApp[]>`
      select tenant_id as tenant, id from auth.apps
      where deleted_at < now() - interval '1 minute'
      order by deleted_at
      limit 1`;
    return app;
  },

  /** Removes up to `limit` users with what is theirs; answers how many. */
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

  /** Removes up to `limit` OAuth clients with their tokens; answers how many. */
  async removeClients({ tenant, id }: DeletedApp, limit: number): Promise<number> {
    const rows = await sql<{ id: string }[]>`
      select id from auth.clients where tenant_id = ${tenant} and app_id = ${id} limit ${limit}`;
    const ids = rows.map((row) => row.id);
    await sql`delete from auth.oidc where client_id = any(${ids}::text[])`;
    await sql`delete from auth.directory where tenant_id = ${tenant} and id = any(${ids}::text[])`;
    await sql`delete from auth.clients where tenant_id = ${tenant} and id = any(${ids}::text[])`;
    return ids.length;
  },

  /** Removes up to `limit` records of each other kind; answers how many of the most frequent one. */
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

  /** Removes the app itself, which nothing belongs to any more. */
  async removeApp({ tenant, id }: DeletedApp): Promise<void> {
    await sql`delete from auth.publishable_keys where tenant_id = ${tenant} and app_id = ${id}`;
    await sql`delete from auth.directory where tenant_id = ${tenant} and id = ${id}`;
    await sql`delete from auth.apps where tenant_id = ${tenant} and id = ${id}`;
  },
});
