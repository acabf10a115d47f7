import type { Erasure } from '../../../../generated/audit/types.ts';
import type { Sql } from '../../../db/index.ts';
import { followsPrevious, onePage, type Window } from '../../../db/lists.ts';
import { isInView, type View } from '../../../db/view.ts';
import { NotFound } from '../../../lib/errors.ts';
import type { Person } from '../keys/persons.store.ts';
import type { NewestById } from '../newest-by-id.ts';

export interface NewErasure extends Pick<
  Erasure,
  'id' | 'app_id' | 'subject_id' | 'reason' | 'requested_by' | 'events_affected' | 'key_destroyed'
> {
  readonly tenant_id: string;
  readonly ref: Uint8Array;
  /** The end of the stream: later events of the person are not erased. */
  readonly sequence: number;
}

/** An erasure whose events are still to be marked. */
interface Unmarked {
  readonly tenant_id: string;
  readonly id: string;
  readonly ref: Buffer;
  readonly sequence: number;
}

/** Every statement about erasures. */
export const erasureStore = (sql: Sql) => ({
  async insert(erasure: NewErasure): Promise<Erasure> {
    const [inserted] = await sql<[Erasure]>`
      insert into audit.erasures (
        tenant_id, id, app_id, subject_id, reason, requested_by, events_affected, key_destroyed, ref, sequence
      )
      values (
        ${erasure.tenant_id}, ${erasure.id}, ${erasure.app_id}, ${erasure.subject_id}, ${erasure.reason}, ${erasure.requested_by},
        ${erasure.events_affected}, ${erasure.key_destroyed}, ${Buffer.from(erasure.ref)}, ${erasure.sequence}
      )
      returning ${shown(sql)}`;
    return inserted;
  },

  /** The last event that an earlier erasure of the person has yet to mark; 0 when there is none. */
  async unmarkedUpTo({ tenant, app, ref }: Person): Promise<number> {
    const [row] = await sql<[{ sequence: number }]>`
      select coalesce(max(sequence), 0)::bigint as sequence from audit.erasures
      where tenant_id = ${tenant} and app_id = ${app} and ref = ${Buffer.from(ref)}`;
    return row.sequence;
  },

  /** The number of events after this one that have parts of a person. */
  async affected(
    { tenant, app, ref }: Person,
    after: number,
    upTo = Number.MAX_SAFE_INTEGER,
  ): Promise<number> {
    const [row] = await sql<[{ count: number }]>`
      select count(*) as count from (
        select sequence from audit.events where tenant_id = ${tenant} and app_id = ${app} and actor_ref = ${ref}
        union
        select sequence from audit.events where tenant_id = ${tenant} and app_id = ${app} and subject_ref = ${ref}
      ) as event
      where sequence > ${after} and sequence <= ${upTo}`;
    return row.count;
  },

  /** Takes a person's name from what the person requested, and from the words of those who asked for something else. */
  async forgetName({ tenant, app }: Person, name: string): Promise<void> {
    const mention = mentionOf(name);
    const without = (column: string) => sql`
      ${sql(column)} = coalesce(nullif(regexp_replace(${sql(column)}, ${mention}, 'erased', 'gi'), ''), 'erased')`;
    const isMentioned = (column: string) => sql`${sql(column)} ~* ${mention}`;
    await sql`
      update audit.reports
      set generated_by = case when generated_by = ${name} then 'erased' else generated_by end, ${without('title')}, updated_at = now()
      where tenant_id = ${tenant} and app_id = ${app} and (generated_by = ${name} or ${isMentioned('title')})`;
    await sql`
      update audit.erasures
      set requested_by = case when requested_by = ${name} then 'erased' else requested_by end, ${without('reason')}, updated_at = now()
      where tenant_id = ${tenant} and app_id = ${app} and subject_id <> ${name}
        and (requested_by = ${name} or ${isMentioned('reason')})`;
  },

  async list(view: View, window: Window<NewestById>): Promise<Erasure[]> {
    return await sql<Erasure[]>`
      select ${shown(sql)} from audit.erasures
      where ${isInView(sql, view)} ${followsPrevious(sql, window)} ${onePage(sql, window)}`;
  },

  /** @throws NotFound */
  async get(view: View, id: string): Promise<Erasure> {
    const [row] = await sql<Erasure[]>`
      select ${shown(sql)} from audit.erasures where id = ${id} and ${isInView(sql, view)}`;
    if (row === undefined) throw NotFound('erasure');
    return row;
  },

  /** The oldest erasure whose events are still to be marked. */
  async unmarked(): Promise<Unmarked | undefined> {
    const [row] = await sql<Unmarked[]>`
      select tenant_id, id, ref, sequence from audit.erasures where ref is not null order by id limit 1`;
    return row;
  },

  /** Marks some of the events of an erased person, so that nothing finds them by the person any more. Returns how many. */
  async mark({ tenant_id, id, ref, sequence }: Unmarked, most: number): Promise<number> {
    const actors = await sql`
      update audit.events set actor_ref = null, erasure_id = ${id}
      where (tenant_id, stream_id, sequence) in (
        select tenant_id, stream_id, sequence from audit.events
        where tenant_id = ${tenant_id} and actor_ref = ${ref} and sequence <= ${sequence} limit ${most}
      )`;
    const subjects = await sql`
      update audit.events set subject_ref = null, resource_ref = null, erasure_id = ${id}
      where (tenant_id, stream_id, sequence) in (
        select tenant_id, stream_id, sequence from audit.events
        where tenant_id = ${tenant_id} and subject_ref = ${ref} and sequence <= ${sequence} limit ${most}
      )`;
    return Math.max(actors.count, subjects.count);
  },

  /** Notes that all events are marked, and forgets by what they were found. */
  async finish({ tenant_id, id }: Unmarked): Promise<void> {
    await sql`update audit.erasures set ref = null, sequence = null where tenant_id = ${tenant_id} and id = ${id}`;
  },
});

/** A pattern for a name that is not a part of a longer word. */
function mentionOf(name: string): string {
  const isWord = (character: string) => /[\p{L}\p{N}_]/u.test(character);
  const before = isWord(name.at(0)!) ? '(?<![[:alnum:]_])' : '';
  const after = isWord(name.at(-1)!) ? '(?![[:alnum:]_])' : '';
  return before + name.replaceAll(/[\\^$.|?*+()[\]{}-]/g, String.raw`\$&`) + after;
}

const shown = (sql: Sql) => sql`
  id, subject_id, reason, requested_by, events_affected, key_destroyed, app_id, tenant_id, created_at, updated_at`;
