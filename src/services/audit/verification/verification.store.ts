import type { Sql } from '../../../db/index.ts';
import { byteArray } from '../byte-arrays.store.ts';
import { ownCategory } from '../append/new-event.ts';
import { purgedAction } from '../record/runs.ts';

/** The end of a stream, and the last row behind it. */
export interface StreamEnd {
  readonly head_seq: number;
  readonly head_hash: Buffer;
  /** The highest sequence of a row, which is that of the head unless rows were cut off or added. */
  readonly last_row: number;
  /** The lowest one: 1 unless rows were added before it, or cut off. */
  readonly first_row: number;
}

/** A row of the chain with the digests of its parts, which the database computes: parts are large. */
export interface LinkRow {
  readonly sequence: number;
  readonly hash: Buffer;
  /** Null unless the event is purged. */
  readonly run_id: string | null;
  /** The size of its parts. */
  readonly bytes: number;
  readonly tenant_id: string;
  readonly stream_id: string;
  readonly id: string;
  readonly app_id: string;
  readonly timestamp: string;
  readonly recorded_at: string;
  readonly recorded_by: string;
  readonly source: string | null;
  readonly actor_type: string;
  readonly action: string;
  readonly resource: string;
  readonly category: string;
  readonly outcome: 'success' | 'failure' | 'denied';
  readonly severity: 'info' | 'warning' | 'critical';
  /** In base64; null only when somebody removed it. */
  readonly salt: string | null;
  readonly actor: string;
  readonly content: string;
  readonly actor_key: string | null;
  readonly content_key: string | null;
  readonly v: 1 | 2;
  readonly is_actor_encrypted: boolean;
  readonly is_content_encrypted: boolean;
  readonly actor_ref: Buffer | null;
  readonly subject_ref: Buffer | null;
  readonly resource_ref: Buffer | null;
  readonly resource_proof: Buffer | null;
}

interface StreamId {
  readonly tenant: string;
  readonly id: string;
}

/** Every statement that reads a chain to verify it. */
export const verificationStore = (sql: Sql) => ({
  /** Read at once, so that rows that are written meanwhile do not look added. Undefined when the stream has no row any more. */
  async end({ tenant, id }: StreamId): Promise<StreamEnd | undefined> {
    const [row] = await sql<StreamEnd[]>`
      select head_seq, head_hash, coalesce((
        select max(sequence) from audit.events where events.tenant_id = streams.tenant_id and events.stream_id = streams.id
      ), 0)::bigint as last_row, coalesce((
        select min(sequence) from audit.events where events.tenant_id = streams.tenant_id and events.stream_id = streams.id
      ), 1)::bigint as first_row
      from audit.streams where tenant_id = ${tenant} and id = ${id}`;
    return row;
  },

  /** The streams of a tenant and app whose events are stored but whose rows are missing; one stream after the other is looked up. */
  async headless(tenant: string, app: string): Promise<string[]> {
    const rows = await sql<{ id: string }[]>`
      with recursive found(id) as (
        (select stream_id from audit.events where tenant_id = ${tenant} order by stream_id limit 1)
        union all
        select (
          select stream_id from audit.events where tenant_id = ${tenant} and stream_id > found.id order by stream_id limit 1
        ) from found where found.id is not null
      )
      select id from found
      where id is not null and not exists (select from audit.streams where tenant_id = ${tenant} and streams.id = found.id)
        and coalesce((
          select app_id from audit.events
          where tenant_id = ${tenant} and stream_id = found.id and events.id is not null order by sequence limit 1
        ), ${app}) = ${app}`;
    return rows.map(({ id }) => id);
  },

  /** Takes the turn to tell of so many faults: once an hour, or when they have doubled. Returns whether it is this one's. */
  async alarm({ tenant, id }: StreamId, faults: number): Promise<boolean> {
    const { count } = await sql`
      insert into audit.alarms as last (tenant_id, stream_id, faults) values (${tenant}, ${id}, ${faults})
      on conflict on constraint alarms_pkey do update set faults = excluded.faults, told_at = now()
      where last.told_at <= now() - interval '1 hour' or excluded.faults >= 2 * last.faults`;
    return count === 1;
  },

  /** The hash of one row; undefined when it is missing. */
  async hash({ tenant, id }: StreamId, sequence: number): Promise<Buffer | undefined> {
    const [row] = await sql<{ hash: Buffer }[]>`
      select hash from audit.events where tenant_id = ${tenant} and stream_id = ${id} and sequence = ${sequence}`;
    return row?.hash;
  },

  async links({ tenant, id }: StreamId, from: number, to: number, most: number): Promise<LinkRow[]> {
    return await sql<LinkRow[]>`
      select sequence, hash, run_id, coalesce(octet_length(actor) + octet_length(content), 0) as bytes, tenant_id, stream_id, id, app_id, timestamp, recorded_at, recorded_by, source, actor_type, action,
        resource, category, outcome, severity, encode(salt, 'base64') as salt,
        encode(sha256(actor), 'hex') as actor, encode(sha256(content), 'hex') as content,
        encode(actor_key, 'hex') as actor_key, encode(content_key, 'hex') as content_key,
        v, coalesce(substring(actor for 1) = '\\x01'::bytea, false) as is_actor_encrypted,
        coalesce(substring(content for 1) = '\\x01'::bytea, false) as is_content_encrypted,
        actor_ref, subject_ref, resource_ref, resource_proof
      from audit.events as event
      where tenant_id = ${tenant} and stream_id = ${id} and sequence between ${from} and ${to}
      order by sequence limit ${most}`;
  },

  /** The stored content of the events that say what runs of the retention purged. */
  async runContents({ tenant, id }: StreamId, refs: readonly Buffer[]): Promise<Buffer[]> {
    const rows = await sql<{ content: Buffer }[]>`
      select content from audit.events
      where tenant_id = ${tenant} and stream_id = ${id} and resource_ref = any(${byteArray(sql, refs)}::bytea[])
        and category = ${ownCategory} and action = ${purgedAction}`;
    return rows.map(({ content }) => content);
  },

  /** The sequences of the rows that claim to be purged by a run. */
  async purgedBy(
    { tenant, id }: StreamId,
    runId: string,
    from: number,
    to: number,
    most: number,
  ): Promise<number[]> {
    const rows = await sql<{ sequence: number }[]>`
      select sequence from audit.events
      where tenant_id = ${tenant} and stream_id = ${id} and sequence between ${from} and ${to} and run_id = ${runId}
      order by sequence limit ${most}`;
    return rows.map(({ sequence }) => sequence);
  },
});
