import type { Sql } from '../../../db/index.ts';
import { byteArray } from '../byte-arrays.store.ts';
import type { ChainedEvent } from './chained.ts';

/** An idempotency key, as a digest, with the event that it stands for. */
export interface EventKey {
  readonly tenant: string;
  readonly app: string;
  readonly key: Buffer;
  readonly eventId: string;
  /** Of what was sent with the key. */
  readonly digest: Buffer;
}

interface KeyRow {
  readonly tenant_id: string;
  readonly app_id: string;
  readonly key: Buffer;
  readonly event_id: string;
  readonly digest: Buffer;
}

/** Every statement that records events. */
export const appendStore = (sql: Sql) => ({
  /** The events that these keys stand for. */
  async keys(keys: readonly EventKey[]): Promise<EventKey[]> {
    const rows = await sql<KeyRow[]>`
      select tenant_id, app_id, key, event_keys.event_id, event_keys.digest
      from audit.event_keys join ${keyed(sql, keys)} using (tenant_id, app_id, key)`;
    return rows.map(eventKey);
  },

  /** Takes keys, in their order, and returns those that were free. */
  async takeKeys(keys: readonly EventKey[], retentionMs: number): Promise<EventKey[]> {
    const rows = await sql<KeyRow[]>`
      insert into audit.event_keys (tenant_id, app_id, key, event_id, digest, expires_at)
      select tenant_id, app_id, key, event_id, digest, statement_timestamp() + ${retentionMs}::float8 * interval '1 millisecond'
      from ${keyed(sql, keys)}
      order by tenant_id, app_id, key
      on conflict on constraint event_keys_pkey do nothing
      returning tenant_id, app_id, key, event_id, digest`;
    return rows.map(eventKey);
  },

  /** Frees keys that this transaction took for requests that it refuses. */
  async freeKeys(keys: readonly EventKey[]): Promise<void> {
    await sql`
      delete from audit.event_keys as held using ${keyed(sql, keys)}
      where held.tenant_id = given.tenant_id and held.app_id = given.app_id and held.key = given.key`;
  },

  async insert(events: readonly ChainedEvent[]): Promise<void> {
    const of = <Value>(value: (event: ChainedEvent) => Value) => events.map(value);
    await sql`
      insert into audit.events (
        tenant_id, stream_id, sequence, hash, id, app_id, timestamp, recorded_at, recorded_by, source, actor_type, action, resource,
        category, outcome, severity, salt, actor, content, actor_key, content_key, actor_ref, subject_ref, resource_ref, v,
        resource_proof
      )
      select * from unnest(
        ${of(({ record }) => record.tenant_id)}::text[], ${of(({ record }) => record.stream_id)}::text[],
        ${of(({ record }) => record.sequence)}::bigint[], ${byteArray(
          sql,
          of(({ hash }) => hash),
        )}::bytea[], ${of(({ record }) => record.id)}::text[],
        ${of(({ record }) => record.app_id)}::text[], ${of(({ record }) => record.timestamp)}::timestamptz[],
        ${of(({ record }) => record.recorded_at)}::timestamptz[], ${of(({ record }) => record.recorded_by)}::text[],
        ${of(({ record }) => record.source)}::text[], ${of(({ record }) => record.actor_type)}::text[],
        ${of(({ record }) => record.action)}::text[], ${of(({ record }) => record.resource)}::text[],
        ${of(({ record }) => record.category)}::text[], ${of(({ record }) => record.outcome)}::text[],
        ${of(({ record }) => record.severity)}::text[], ${byteArray(
          sql,
          of(({ salt }) => salt),
        )}::bytea[], ${byteArray(
          sql,
          of(({ actor }) => actor.bytes),
        )}::bytea[],
        ${byteArray(
          sql,
          of(({ content }) => content.bytes),
        )}::bytea[], ${byteArray(
          sql,
          of(({ actor }) => actor.commitment),
        )}::bytea[],
        ${byteArray(
          sql,
          of(({ content }) => content.commitment),
        )}::bytea[], ${byteArray(
          sql,
          of(({ actorRef }) => actorRef),
        )}::bytea[],
        ${byteArray(
          sql,
          of(({ subjectRef }) => subjectRef),
        )}::bytea[], ${byteArray(
          sql,
          of(({ resourceRef }) => resourceRef),
        )}::bytea[], ${of(({ record }) => record.v)}::integer[], ${byteArray(
          sql,
          of(({ resourceProof }) => resourceProof),
        )}::bytea[]
      )`;
  },

  async exists(id: string): Promise<boolean> {
    const rows = await sql`select from audit.events where id = ${id}`;
    return rows.length > 0;
  },

  /** Forgets keys whose time is over. */
  async expireKeys(most: number): Promise<number> {
    const rows = await sql`
      delete from audit.event_keys where ctid = any(array(
        select ctid from audit.event_keys where expires_at <= statement_timestamp() limit ${most}
      )) returning event_id`;
    return rows.length;
  },
});

const keyed = (sql: Sql, keys: readonly EventKey[]) => sql`
  unnest(
    ${keys.map(({ tenant }) => tenant)}::text[], ${keys.map(({ app }) => app)}::text[], ${byteArray(
      sql,
      keys.map(({ key }) => key),
    )}::bytea[],
    ${keys.map(({ eventId }) => eventId)}::text[], ${byteArray(
      sql,
      keys.map(({ digest }) => digest),
    )}::bytea[]
  ) as given(tenant_id, app_id, key, event_id, digest)`;

const eventKey = ({ tenant_id, app_id, key, event_id, digest }: KeyRow): EventKey => ({
  tenant: tenant_id,
  app: app_id,
  key,
  eventId: event_id,
  digest,
});
