import type { Lease } from '../../../generated/jobs/types.ts';
import { claim, type ClaimedJob, claimLimited, reusePlans } from '../../db/engine/claim.store.ts';
import { isOfRun } from '../../db/engine/runs/ends.ts';
import { runStore } from '../../db/engine/runs/runs.store.ts';
import type { Database, Sql } from '../../db/index.ts';
import type { View } from '../../db/view.ts';
import { newId } from '../../lib/ids.ts';
import { takingStore } from './taking.store.ts';
import { jobReads } from './jobs.store.ts';
import { jobView } from './views.ts';

/** What a worker asks for. */
export interface Order {
  readonly view: View;
  readonly queues: readonly string[];
  readonly count: number;
  readonly ttlMs: number;
  /** The name that the worker gives itself; empty for none. */
  readonly worker: string;
}

export interface Taken {
  /** Undefined when no job was due. */
  readonly lease: Lease | undefined;
  /** Milliseconds until a job that was seen becomes due; null when none is known. */
  readonly waitMs: number | null;
}

/** The most jobs of the first claim: only those that were taken tell how large the others may be. */
const firstClaim = 64;
/** A lease gets no further jobs when its payloads have so many bytes. */
const mostBytes = 4 * 1_024 * 1_024;

/** Takes due jobs, from one queue after the other, under a new lease. Without jobs there is no lease. */
export function take(db: Database, { view, queues, count, ttlMs, worker }: Order): Promise<Taken> {
  return db.transaction(async (sql) => {
    const id = newId('lease');
    const store = takingStore(sql);
    const [, expires_at] = await Promise.all([
      reusePlans(sql),
      store.createLease({ id, app: view.app, tenant: view.tenant, worker, ttlMs }),
    ]);
    const jobs: ClaimedJob[] = [];
    let waitMs: number | null = null;
    let bytes = 0;
    for (const queue of queues)
      for (let more = true; more && jobs.length < count && bytes < mostBytes;) {
        const most =
          jobs.length === 0 ? firstClaim : Math.floor((mostBytes - bytes) / (bytes / jobs.length)) + 1;
        const size = Math.min(count - jobs.length, most);
        const claimed = await takeFrom(sql, { queue, leaseId: id, count: size, view });
        jobs.push(...claimed.jobs);
        for (const { payload } of claimed.jobs) bytes += JSON.stringify(payload).length;
        if (claimed.waitMs !== null) waitMs = Math.min(waitMs ?? Infinity, claimed.waitMs);
        more = claimed.jobs.length === size;
      }
    if (jobs.length === 0) {
      await store.deleteLease(id);
      return { lease: undefined, waitMs };
    }
    const ofRuns = jobs.filter(isOfRun);
    if (ofRuns.length > 0) await runStore(sql).wake(ofRuns);
    const views = new Map((await jobReads(sql).all(view, idsOf(jobs))).map((row) => [row.id, jobView(row)]));
    const lease = { id, worker: worker === '' ? null : worker, expires_at, jobs: [] };
    return { lease: { ...lease, jobs: idsOf(jobs).map((job) => views.get(job)!) }, waitMs };
  });
}

async function takeFrom(
  sql: Sql,
  { queue, leaseId, count, view }: { queue: string; leaseId: string; count: number; view: View },
) {
  const request = { queue, leaseId, count, cursor: new Map(), scope: view };
  const claimed = await claim(sql, request);
  return claimed.limited ? claimLimited(sql, request) : claimed;
}

const idsOf = (jobs: readonly ClaimedJob[]) => jobs.map(({ id }) => id);
