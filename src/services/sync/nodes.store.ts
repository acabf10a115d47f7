import type { Node } from '../../../generated/sync/types.ts';
import type { Order, Window } from '../../db/lists.ts';
import { followsPrevious, onePage } from '../../db/lists.ts';
import type { Sql } from '../../db/index.ts';
import type { Dataset } from './dataset.ts';

/** Nodes are listed by when they were first seen, the newest first. */
export const newestNodes = {
  columns: { first_seen_at: 'time', node_id: 'string' },
  direction: 'desc',
} as const satisfies Order;

export const nodeStore = (sql: Sql) => ({
  async list({ tenant, app }: Dataset, window: Window<typeof newestNodes>): Promise<Node[]> {
    return await sql<Node[]>`
      select node_id, owner, first_seen_at, last_push_at, last_pull_at from sync.nodes
      where tenant_id = ${tenant} and app_id = ${app} ${followsPrevious(sql, window)}
      ${onePage(sql, window)}`;
  },

  /** Returns whether there was such a node. */
  async delete({ tenant, app }: Dataset, node: string): Promise<boolean> {
    const { count } = await sql`
      delete from sync.nodes where tenant_id = ${tenant} and app_id = ${app} and node_id = ${node}`;
    return count > 0;
  },

  /** Notes that the owner of a node pulled with it, at most once a minute. */
  async notePull({ tenant, app }: Dataset, node: string, owner: string): Promise<void> {
    await sql`
      update sync.nodes set last_pull_at = now()
      where tenant_id = ${tenant} and app_id = ${app} and node_id = ${node} and owner = ${owner}
        and (last_pull_at is null or last_pull_at < now() - interval '1 minute')`;
  },

  /** Notes that a node was told to begin again, and returns whether it was, by its owner, and for the first time within an hour. */
  async noteResync({ tenant, app }: Dataset, node: string, owner: string): Promise<boolean> {
    const { count } = await sql`
      update sync.nodes set resync_at = now()
      where tenant_id = ${tenant} and app_id = ${app} and node_id = ${node} and owner = ${owner}
        and (resync_at is null or resync_at < now() - interval '1 hour')`;
    return count > 0;
  },
});
