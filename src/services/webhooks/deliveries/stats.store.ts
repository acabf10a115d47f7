import type { Sql } from '../../../db/index.ts';
import { isInView, type View } from '../../../db/view.ts';

/** The numbers of the statistics. */
export interface Counts {
  readonly events: number;
  /** Deliveries that have not ended. */
  readonly live: number;
  readonly delivering: number;
  readonly delivered: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly dlq: number;
  readonly endpoints: number;
  readonly endpoints_enabled: number;
  readonly endpoints_open: number;
}

export const statsStore = (sql: Sql) => ({
  /** One statement, so that all numbers are of one moment. Its cost is that of the endpoints and of what is in flight. */
  async counts(view: View): Promise<Counts> {
    const of = (kind: string) => sql`coalesce(sum(amount) filter (where kind = ${kind}), 0)::bigint`;
    const [counts] = await sql<[Counts]>`
      select tallies.*, endpoints.*,
        (select count(*) from webhooks.delivery where ${isInView(sql, view)} and state = 'delivering') as delivering
      from (
        select ${of('event')} as events, ${of('live')} as live, ${of('delivered')} as delivered, ${of('failed')} as failed,
          ${of('cancelled')} as cancelled, ${of('dlq')} as dlq
        from webhooks.tally where ${isInView(sql, view)}
      ) as tallies, (
        select count(*) as endpoints, count(*) filter (where enabled) as endpoints_enabled,
          count(*) filter (where breaker in ('open', 'half_open')) as endpoints_open
        from (select id, enabled from webhooks.endpoint where ${isInView(sql, view)} and deleted_at is null) as endpoint
        left join webhooks.lane on lane.endpoint_id = endpoint.id
      ) as endpoints`;
    return counts;
  },
});
