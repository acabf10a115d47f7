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

/** The most notifications to a client that are in flight. */
const mostInFlight = 8;
/** The most of all clients of a tenant, half of what one process attempts: none of them may answer. */
const mostOfTenant = 32;
/** The most clients of one look for due notifications. */
const mostClients = 20_000;

/** Every statement about logout notifications to clients; most are queued where sessions are revoked. */
export const logoutStore = (sql: Sql) => ({
  /** Queues a notification. A client is notified of each session once. */
  async insert(logout: Logout): Promise<void> {
    await sql`insert into auth.logouts ${sql(logout)} on conflict do nothing`;
  },

  /**
   * Claims due notifications of clients that still want them. Of each client only the first due ones are looked at, so that no more than
   * those are in flight. The cost is that of the clients that have notifications waiting.
   */
  async claim(count: number): Promise<DueLogout[]> {
    return await sql<DueLogout[]>`
      with recursive waiting as (
        (select tenant_id, client_id, 1 as seen from auth.logouts order by tenant_id, client_id limit 1)
        union all
        select next.*, waiting.seen + 1 from waiting cross join lateral (
          select tenant_id, client_id from auth.logouts
          where (tenant_id, client_id) > (waiting.tenant_id, waiting.client_id)
          order by tenant_id, client_id limit 1
        ) as next
        where waiting.seen < ${mostClients}
      ),
      seen as (
        select due.*, clients.backchannel_logout_uri as url,
          row_number() over (partition by due.tenant_id order by is_claimed desc, next_attempt_at, sid) as of_tenant
        from waiting
        join auth.clients on clients.tenant_id = waiting.tenant_id and clients.id = waiting.client_id
        cross join lateral (
          select tenant_id, client_id, sid, next_attempt_at, coalesce(claimed_until > now(), false) as is_claimed from auth.logouts
          where logouts.tenant_id = clients.tenant_id and logouts.client_id = clients.id and next_attempt_at <= now()
          order by next_attempt_at, sid limit ${mostInFlight}
        ) as due
        where clients.backchannel_logout_uri is not null
      ),
      first as materialized (
        select tenant_id, client_id, sid, url from seen
        where not is_claimed and of_tenant <= ${mostOfTenant}
        order by next_attempt_at
        limit ${count}
      )
      update auth.logouts
      set claimed_until = now() + ${claimSeconds} * interval '1 second'
      from (
        select first.* from first join auth.logouts using (tenant_id, client_id, sid)
        where logouts.next_attempt_at <= now() and (logouts.claimed_until is null or logouts.claimed_until <= now())
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
