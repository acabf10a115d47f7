import type { Fragment } from 'postgres';
import type { Sql } from './sql.ts';

/**
 * Days after which a consumer that no process runs any more is forgotten: it no longer holds back anything, and if it returns, it
 * starts where it stopped.
 */
export const forgottenDays = 7;

/**
 * A condition for rows of a service's `outbox`: whether a consumer of the relay has not received the event yet. The condition
 * reads the database, because the process that deletes may not be the one that runs the consumer.
 */
export const isAwaited = (sql: Sql, service: string): Fragment => sql`
  exists (
    select from plinth.relay_positions as reader
    where reader.service = ${service} and reader.seen_at > now() - ${forgottenDays} * interval '1 day'
      and (
        outbox.relay_number is null or outbox.relay_number > reader.reached
        or exists (
          select from plinth.relay_held as held
          where held.service = reader.service and held.consumer = reader.consumer
            and held.tenant_id = outbox.tenant_id and held.subject = outbox.subject
            and held.number <= outbox.relay_number
        )
        or exists (
          select from plinth.relay_held_tenants as held
          where held.service = reader.service and held.consumer = reader.consumer
            and held.tenant_id = outbox.tenant_id and held.number <= outbox.relay_number
        )
      )
  )`;
