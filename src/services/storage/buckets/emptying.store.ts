import type { Sql } from '../../../db/index.ts';

/** A bucket that nobody finds any more. */
export interface Emptied {
  readonly tenant_id: string;
  readonly id: string;
}

/** Every statement about buckets that are being emptied. */
export const emptyingStore = (sql: Sql) => ({
  async hidden(limit: number): Promise<Emptied[]> {
    return await sql<Emptied[]>`
      select tenant_id, id from storage.buckets where name is null order by tenant_id, id limit ${limit}`;
  },

  /** Locks the bucket for the rest of the transaction; returns whether it is still there. */
  async lock({ tenant_id, id }: Emptied): Promise<boolean> {
    const { count } = await sql`
      select from storage.buckets where tenant_id = ${tenant_id} and id = ${id} and name is null for update`;
    return count > 0;
  },

  /**
   * Deletes objects without events: the event of the bucket says it all. Deletes about as many as have `limit` parts together, and
   * returns how many.
   */
  async dropObjects({ tenant_id, id }: Emptied, limit: number): Promise<number> {
    const [{ count }] = await sql<[{ count: number }]>`
      select cardinality(storage.delete_objects(
        ${tenant_id}, ${id}, array(
          select key from (
            select key, sum(1 + segments) over (order by key) - segments as place from (
              select key, segments from storage.objects
              where tenant_id = ${tenant_id} and bucket_id = ${id} order by key limit ${limit}
            ) as first
          ) as placed where place <= ${limit}
        ), null, '{}', '{}', null
      )) as count`;
    return count;
  },

  /** Deletes the records of uploads with their parts, which become garbage, in steps like those of objects. Returns how many. */
  async dropUploads({ tenant_id, id }: Emptied, limit: number): Promise<number> {
    const [{ count }] = await sql<[{ count: number }]>`
      select storage.drop_uploads(${tenant_id}, ${id}, ${limit}) as count`;
    return count;
  },

  async drop({ tenant_id, id }: Emptied): Promise<void> {
    await sql`delete from storage.usage where tenant_id = ${tenant_id} and bucket_id = ${id}`;
    await sql`delete from storage.buckets where tenant_id = ${tenant_id} and id = ${id}`;
  },
});
