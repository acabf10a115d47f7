import type { Rotation } from '../../../generated/keys/types.ts';
import type { Sql } from '../../db/index.ts';
import type { Place, Window } from '../../http/lists.ts';

/** Every statement about rotations. */
export const rotationStore = (sql: Sql) => ({
  async insert(rotation: Rotation): Promise<void> {
    await sql`insert into keys.rotations ${sql(rotation)}`;
  },

  /** Newest first; one more than `limit` when more follow. */
  async list(tenant: string, keyId: string, { limit, offset, after }: Window<Place>): Promise<Rotation[]> {
    return await sql<Rotation[]>`
      select
        id, key_id, tenant_id, reason, grace_period, grace_ends_at, rotated_by, old_hint, new_hint, created_at
      from keys.rotations
      where tenant_id = ${tenant} and key_id = ${keyId} ${after === null ? sql`` : isAfter(sql, after)}
      order by created_at desc, id
      limit ${limit + 1}
      offset ${offset}`;
  },
});

const isAfter = (sql: Sql, { created_at, id }: Place) =>
  sql`and created_at <= ${created_at} and (created_at < ${created_at} or id > ${id})`;
