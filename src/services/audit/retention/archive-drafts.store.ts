import type { Sql } from '../../../db/index.ts';

/** An archive that is being written. */
export interface ArchiveDraft {
  readonly tenant_id: string;
  /** How the names of its files begin. */
  readonly place: string;
  /** Differs when the same archive is written again. */
  readonly id: string;
}

/** Every statement about archives that are being written. */
export const archiveDraftStore = (sql: Sql) => ({
  /** Notes a draft; it takes the place of an earlier one. */
  async put({ tenant_id, place, id }: ArchiveDraft): Promise<void> {
    await sql`
      insert into audit.archive_drafts (tenant_id, place, id) values (${tenant_id}, ${place}, ${id})
      on conflict on constraint archive_drafts_pkey do update
        set id = excluded.id, given_up = false, created_at = excluded.created_at`;
  },

  /** Ends a draft whose archive is stored in this transaction. Returns whether it was still the draft of its place. */
  async end({ tenant_id, place, id }: ArchiveDraft): Promise<boolean> {
    const { count } = await sql`
      delete from audit.archive_drafts
      where tenant_id = ${tenant_id} and place = ${place} and id = ${id} and not given_up`;
    return count === 1;
  },

  /** Gives up drafts that are so old, but for those that a transaction is just ending. Returns how many. */
  async giveUp(afterMs: number, most: number): Promise<number> {
    const { count } = await sql`
      update audit.archive_drafts set given_up = true where (tenant_id, place) in (
        select tenant_id, place from audit.archive_drafts
        where not given_up and created_at < now() - ${afterMs}::float8 * interval '1 millisecond'
        order by created_at limit ${most} for update skip locked
      )`;
    return count;
  },

  /** Deletes drafts that were given up. Nobody writes to their places until the end of the transaction. */
  async takeGivenUp(most: number): Promise<Omit<ArchiveDraft, 'id'>[]> {
    return await sql<Omit<ArchiveDraft, 'id'>[]>`
      delete from audit.archive_drafts where (tenant_id, place) in (
        select tenant_id, place from audit.archive_drafts where given_up
        order by created_at limit ${most} for update skip locked
      )
      returning tenant_id, place`;
  },

  /** The files in a place that are archives. */
  async archived({ tenant_id, place }: Omit<ArchiveDraft, 'id'>): Promise<string[]> {
    const rows = await sql<{ sink_ref: string }[]>`
      select sink_ref from audit.archives where tenant_id = ${tenant_id} and starts_with(sink_ref, ${place})`;
    return rows.map(({ sink_ref }) => sink_ref);
  },
});
