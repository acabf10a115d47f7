import type { Sql } from '../../../db/index.ts';

/** Every statement about the events of providers that have had their effect. */
export const providerEventStore = (sql: Sql) => ({
  /** Notes an event; false when it was noted before. A concurrent transaction that notes the same is waited for. */
  async note(provider: string, eventId: string, at: number): Promise<boolean> {
    const noted = await sql`
      insert into billing.provider_event (provider, event_id, created_at) values (${provider}, ${eventId}, ${new Date(at)})
      on conflict do nothing`;
    return noted.count > 0;
  },

  /** Deletes events from before a time. */
  async prune(before: number, most: number): Promise<number> {
    const deleted = await sql`
      delete from billing.provider_event where (provider, event_id) in (
        select provider, event_id from billing.provider_event
        where created_at < ${new Date(before)} order by created_at limit ${most}
      )`;
    return deleted.count;
  },
});
