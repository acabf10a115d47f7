import type { Fragment } from 'postgres';
import type { Database } from './index.ts';
import { isAwaited } from './outbox-readers.ts';
import type { Sql } from './sql.ts';
import type { Sweep } from './sweeps.ts';

export interface OutboxPruning {
  readonly db: Database;
  /** The service that owns the outbox. */
  readonly service: string;
  /** A condition for rows of `outbox` that are still needed, however old they are. */
  readonly needed?: (sql: Sql) => Fragment;
}

const keptDays = 7;
const everyMs = 60 * 60_000;
/** The most tenants that one statement reads, and the most rows that one statement reads and may delete. */
const mostTenants = 500;
const mostRows = 1_000;

/**
 * Deletes events that are older than a week, except those that a consumer of the relay has not received yet. The relay itself
 * deletes events that all consumers have received; this sweep deletes events that nobody waits for, and events that the relay
 * left because the service still needed them.
 */
export const outboxSweep = (pruning: OutboxPruning): Sweep => ({
  name: `${pruning.service}.outbox`,
  everyMs,
  notice: `events that no consumer waits for stay in the outbox for ${keptDays} days and are then deleted`,
  batch: mostTenants,
  steps: [
    async (_, signal) => {
      await pruneOnce(pruning, signal === undefined ? {} : { signal });
      return 0;
    },
  ],
});

/**
 * Does one run, in batches. It follows the primary key, tenant by tenant, and within a tenant from the oldest event to the first
 * one that is young enough, so that its cost depends on what it deletes and not on the size of the table.
 */
export async function pruneOnce(
  { db, service, needed }: OutboxPruning,
  {
    signal,
    tenants = mostTenants,
    rows = mostRows,
  }: { signal?: AbortSignal; tenants?: number; rows?: number } = {},
): Promise<void> {
  const store = pruningOf(db.sql, service, needed);
  let after: string | null = null;
  do {
    const found: FoundTenant[] = await store.tenants(after, tenants);
    for (const { tenant_id } of found.filter(({ old }) => old)) await pruneTenant(tenant_id);
    after = found.length === tenants ? (found.at(-1)?.tenant_id ?? null) : null;
  } while (after !== null && !signal?.aborted);

  async function pruneTenant(tenant: string): Promise<void> {
    let last: number | null = 0;
    while (last !== null && !signal?.aborted) last = await store.prune(tenant, last, rows);
  }
}

interface FoundTenant {
  readonly tenant_id: string;
  /** Whether the tenant's oldest event is old enough to delete. */
  readonly old: boolean;
}

function pruningOf(sql: Sql, service: string, needed?: (sql: Sql) => Fragment) {
  const table = sql(`${service}.outbox`);
  const old = sql`time < now() - ${keptDays} * interval '1 day'`;
  return {
    /** Returns the next tenants that have events, in the order of their ids, with one index lookup for each. */
    async tenants(after: string | null, limit: number): Promise<FoundTenant[]> {
      return await sql<FoundTenant[]>`
        with recursive tenants as (
          (
            select tenant_id, ${old} as old from ${table}
            ${after === null ? sql`` : sql`where tenant_id > ${after}`}
            order by tenant_id, seq limit 1
          )
          union all
          select following.tenant_id, following.old
          from tenants cross join lateral (
            select tenant_id, ${old} as old from ${table} as next
            where next.tenant_id > tenants.tenant_id
            order by tenant_id, seq limit 1
          ) as following
        )
        select tenant_id, old from tenants limit ${limit}`;
    },

    /** Deletes the old ones among a tenant's next events; returns the last number read, or null when no old events can follow. */
    async prune(tenant: string, after: number, limit: number): Promise<number | null> {
      const [row] = await sql<[{ seen: number; last: number | null; young: boolean | null }]>`
        with next as (
          select seq, ${old} as old from ${table}
          where tenant_id = ${tenant} and seq > ${after}
          order by seq limit ${limit}
        ), deleted as (
          delete from ${table} as outbox
          using next
          where outbox.tenant_id = ${tenant} and outbox.seq = next.seq and next.old
            and not ${isAwaited(sql, service)}
            ${needed === undefined ? sql`` : sql`and not (${needed(sql)})`}
        )
        select count(*)::int as seen, max(seq) as last, bool_or(not old) as young from next`;
      return row.seen < limit || row.young ? null : row.last;
    },
  };
}
