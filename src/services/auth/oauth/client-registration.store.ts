import type { Client } from '../../../../generated/auth/types.ts';
import type { Sql } from '../../../db/index.ts';

/** Maximum number of self-registered clients per app. */
export const mostRegistered = 1_000;

/** Every statement about self-registered clients. */
export const registrationStore = (sql: Sql) => ({
  /** Counts a client before it is created, so that concurrent registrations respect the maximum. Returns false if it is reached. */
  async reserve(tenant: string, app: string): Promise<boolean> {
    const { count } = await sql`
      insert into auth.registration_counts (tenant_id, app_id, clients) values (${tenant}, ${app}, 1)
      on conflict (tenant_id, app_id) do update set clients = registration_counts.clients + 1
      where registration_counts.clients < ${mostRegistered}`;
    return count > 0;
  },

  /** Returns the client that the registration access token belongs to. Clients of deleted apps are omitted. */
  async find(id: string, hash: Buffer): Promise<{ tenant: string; app: string } | undefined> {
    const [found] = await sql<{ tenant: string; app: string }[]>`
      select clients.tenant_id as tenant, clients.app_id as app
      from auth.directory
      join auth.clients on clients.tenant_id = directory.tenant_id and clients.id = directory.id
      join auth.apps
        on apps.tenant_id = clients.tenant_id and apps.id = clients.app_id and apps.deleted_at is null
      where directory.id = ${id} and clients.registration_hash = ${hash}`;
    return found;
  },

  async keepToken(tenant: string, { id }: Pick<Client, 'id'>, hash: Buffer): Promise<void> {
    await sql`update auth.clients set registration_hash = ${hash} where tenant_id = ${tenant} and id = ${id}`;
  },
});
