import type { Archive } from '../../../../generated/audit/types.ts';
import type { Sql } from '../../../db/index.ts';
import { followsPrevious, onePage, type Window } from '../../../db/lists.ts';
import { isInView, type View } from '../../../db/view.ts';
import { NotFound } from '../../../lib/errors.ts';
import { ownCategory } from '../append/new-event.ts';
import type { NewestById } from '../newest-by-id.ts';
import type { DuePolicy } from './policies.store.ts';

export type NewArchive = Omit<Archive, 'created_at' | 'updated_at'> & {
  readonly tenant_id: string;
  readonly app_id: string;
};

/** An event that is due to be purged. */
export interface DueEvent {
  readonly sequence: number;
  readonly timestamp: string;
  readonly hash: Buffer;
}

/** Every statement about purged events and their archives. */
export const purgeStore = (sql: Sql) => ({
  /** The oldest events that a policy no longer keeps, in the order of the stream. */
  async due(policy: DuePolicy, most: number): Promise<DueEvent[]> {
    return await sql<DueEvent[]>`
      select sequence, timestamp, hash from (
        select sequence, timestamp, hash from audit.events as event
        where ${isCovered(sql, policy)} and timestamp < now() - ${policy.duration_ms}::float8 * interval '1 millisecond'
        order by timestamp, sequence limit ${most}
      ) as due order by sequence`;
  },

  /** The number of events that a policy covers. */
  async covered(policy: DuePolicy): Promise<number> {
    const [row] = await sql<[{ count: number }]>`
      select count(*) as count from audit.events as event where ${isCovered(sql, policy)}`;
    return row.count;
  },

  /** Leaves of events only their numbers and hashes. Returns the numbers of those that were not purged before. */
  async purge(
    { tenant_id, id }: { readonly tenant_id: string; readonly id: string },
    runId: string,
    sequences: readonly number[],
  ): Promise<number> {
    await sql`
      delete from audit.event_keys where event_id in (
        select id from audit.events
        where tenant_id = ${tenant_id} and stream_id = ${id} and sequence = any(${[...sequences]}::bigint[]) and run_id is null
      )`;
    const { count } = await sql`
      update audit.events
      set id = null, app_id = null, timestamp = null, recorded_at = null, recorded_by = null, source = null, actor_type = null,
        action = null, resource = null, category = null, outcome = null, severity = null, salt = null, actor = null, content = null,
        actor_key = null, content_key = null, actor_ref = null, subject_ref = null, resource_ref = null, resource_proof = null,
        erasure_id = null, actor_erased_by = null, content_erased_by = null,
        run_id = ${runId}
      where tenant_id = ${tenant_id} and stream_id = ${id} and sequence = any(${[...sequences]}::bigint[]) and run_id is null`;
    return count;
  },

  /** Counts events as purged. The end of their stream is locked. */
  async count({ tenant_id, id }: { readonly tenant_id: string; readonly id: string }, purged: number) {
    await sql`update audit.streams set purged = purged + ${purged} where tenant_id = ${tenant_id} and id = ${id}`;
  },

  async insertArchive(archive: NewArchive): Promise<void> {
    await sql`insert into audit.archives ${sql(archive)}`;
  },

  async archives(view: View, window: Window<NewestById>): Promise<Archive[]> {
    return await sql<Archive[]>`
      select ${shown(sql)} from audit.archives
      where ${isInView(sql, view)} ${followsPrevious(sql, window)} ${onePage(sql, window)}`;
  },

  /** @throws NotFound */
  async archive(view: View, id: string): Promise<Archive> {
    const [row] = await sql<
      Archive[]
    >`select ${shown(sql)} from audit.archives where id = ${id} and ${isInView(sql, view)}`;
    if (row === undefined) throw NotFound('archive');
    return row;
  },
});

/** What the service itself did is never purged. */
const isCovered = (sql: Sql, { tenant_id, app_id, category, others }: DuePolicy) => sql`
  event.tenant_id = ${tenant_id} and event.app_id = ${app_id} and event.id is not null
  and ${
    category === '*'
      ? sql`event.category <> all(${[...others, ownCategory]}::text[])`
      : sql`event.category = ${category} and event.category <> ${ownCategory}`
  }`;

const shown = (sql: Sql) => sql`
  id, policy_id, category, event_count, from_timestamp, to_timestamp, sink_name, sink_ref, stream_id, first_sequence, last_sequence,
  sha256, size_bytes, created_at, updated_at`;
