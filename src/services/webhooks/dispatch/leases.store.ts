import type { Sql } from '../../../db/index.ts';

/** Every statement about deliveries whose attempt has been given up. They become due at once, and the attempt does not count. */
export const leaseStore = (sql: Sql) => ({
  /** Puts back what runs under leases that have ended. Returns the endpoints. */
  async putBackLost(): Promise<string[]> {
    return endpointsOf(
      await sql`
        with lost as (
          select tenant_id, id from webhooks.delivery
          where state = 'delivering' and not exists (select from jobs.lease where lease.id = delivery.lease_id)
          limit 5000 for update skip locked
        )
        ${putBack(sql, sql`from lost where delivery.tenant_id = lost.tenant_id and delivery.id = lost.id`)}`,
    );
  },

  /** Puts back everything that is in flight, which nobody can be attempting: one process at a time opens an embedded database. */
  async putBackAll(): Promise<void> {
    await sql`${putBack(sql, sql`where state = 'delivering'`)}`;
  },

  /**
   * Puts back what runs under a lease although its holder does not know of it: the answer to a claim was lost. Claims of the last five
   * seconds are left out, because their answers may be under way.
   */
  async putBackStrays(leaseId: string, held: readonly string[]): Promise<string[]> {
    return endpointsOf(
      await sql`${putBack(
        sql,
        sql`
          where state = 'delivering' and lease_id = ${leaseId} and updated_at < now() - interval '5 seconds'
            and not (id = any(${[...held]}::text[]))`,
      )}`,
    );
  },

  /** Ends a lease and puts back what runs under it. */
  async release(leaseId: string): Promise<string[]> {
    return endpointsOf(
      await sql`
        with ended as (delete from jobs.lease where id = ${leaseId})
        ${putBack(sql, sql`where state = 'delivering' and lease_id = ${leaseId}`)}`,
    );
  },
});

const putBack = (sql: Sql, which: ReturnType<Sql>) => sql`
  update webhooks.delivery set state = 'pending', lease_id = null, next_attempt_at = statement_timestamp(), updated_at = now()
  ${which} returning endpoint_id`;

const endpointsOf = (rows: readonly { endpoint_id?: string }[]): string[] => [
  ...new Set(rows.flatMap(({ endpoint_id }) => endpoint_id ?? [])),
];
