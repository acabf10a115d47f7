import type { Rotation } from '../../../generated/keys/types.ts';
import type { Sql } from '../../db/index.ts';
import { followsPrevious, onePage, type Window } from '../../db/lists.ts';

/** Every statement about rotations. */
export const rotationStore = (sql: Sql) => ({
  async insert(rotation: Rotation): Promise<void> {
    await sql`insert into keys.rotations ${sql(rotation)}`;
  },

  /** Returns rotations newest first, and one more than `limit` when more follow. */
  async list(tenant: string, keyId: string, window: Window): Promise<Rotation[]> {
    return await sql<Rotation[]>`
      select
        id, key_id, tenant_id, reason, grace_period, grace_ends_at, rotated_by, old_hint, new_hint, created_at
      from keys.rotations
      where tenant_id = ${tenant} and key_id = ${keyId} ${followsPrevious(sql, window)}
      ${onePage(sql, window)}`;
  },
});
