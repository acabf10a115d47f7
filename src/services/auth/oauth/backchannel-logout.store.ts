import type { Sql } from '../../../db/index.ts';
import { claimSeconds } from '../../../delivery/delivery-queue.ts';

/** A logout notification: the client, the user and the session, as the client knows them. */
export interface Logout {
  readonly tenant_id: string;
  readonly client_id: string;
  readonly user_id: string;
  readonly sid: string;
}

/** A logout notification that this process has claimed for a while, with the data needed to send it. */
export interface DueLogout extends Logout {
  readonly url: string;
  readonly attempts: number;
}

/** Every statement about logout notifications to clients; most are queued where sessions are revoked. */
export const logoutStore = (sql: Sql) => ({
  /** Queues a notification. A client is notified of each session once. */
  async insert(logout: Logout): Promise<void> {
    await sql`insert into auth.logouts ${sql(logout)} on conflict do nothing`;
  },

  /** Claims due notifications of clients that still want them. */
  async claim(count: number): Promise<DueLogout[]> {
    return await sql<DueLogout[]>`
      update auth.logouts
      set claimed_until = now() + ${claimSeconds} * interval '1 second'
      from (
        select logouts.tenant_id, logouts.client_id, logouts.sid, clients.backchannel_logout_uri as url
        from auth.logouts
        join auth.clients on clients.tenant_id = logouts.tenant_id and clients.id = logouts.client_id
        where logouts.next_attempt_at <= now() and clients.backchannel_logout_uri is not null
          and (logouts.claimed_until is null or logouts.claimed_until <= now())
        order by logouts.next_attempt_at
        limit ${count}
        for update of logouts skip locked
      ) as due
      where logouts.tenant_id = due.tenant_id and logouts.client_id = due.client_id and logouts.sid = due.sid
      returning logouts.tenant_id, logouts.client_id, logouts.sid, logouts.user_id, logouts.attempts, due.url`;
  },

  /** Schedules another try after this many seconds. */
  async putOff({ tenant_id, client_id, sid }: Logout, seconds: number): Promise<void> {
    await sql`
      update auth.logouts
      set attempts = attempts + 1, claimed_until = null, next_attempt_at = now() + ${seconds} * interval '1 second'
      where tenant_id = ${tenant_id} and client_id = ${client_id} and sid = ${sid}`;
  },

  async delete({ tenant_id, client_id, sid }: Logout): Promise<void> {
    await sql`
      delete from auth.logouts
      where tenant_id = ${tenant_id} and client_id = ${client_id} and sid = ${sid}`;
  },

  /** Deletes notifications that have no tries left or that nobody wants any more. Returns how many, at most `batch`. */
  async forget(batch: number): Promise<number> {
    const { count } = await sql`
      delete from auth.logouts
      where (tenant_id, client_id, sid) in (
        select tenant_id, client_id, sid from auth.logouts
        where created_at < now() - interval '3 days'
        limit ${batch}
      )`;
    return count;
  },
});
