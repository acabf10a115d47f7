import type { ClaimedJob } from './claim.store.ts';

/**
 * The jobs that a process has claimed and not yet started. The most urgent start first, and among equals the tenants take turns, so that
 * a job of one tenant does not wait for all those of another that were claimed before it.
 */
export class WaitingJobs {
  /** The lanes of each rank: those whose turn comes first stand first. */
  readonly #ranks = new Map<number, Map<string, ClaimedJob[]>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** @param jobs in the order in which those of a lane start */
  add(jobs: readonly ClaimedJob[]): void {
    const perLane = Map.groupBy(jobs, ({ rank, app_id, tenant_id }) => `${rank} ${app_id}\n${tenant_id}`);
    for (const [key, more] of perLane) {
      const { rank } = more[0]!;
      const lanes = this.#ranks.get(rank) ?? new Map<string, ClaimedJob[]>();
      this.#ranks.set(rank, lanes);
      // The last one is next, because the end of an array is where taking costs nothing.
      lanes.set(key, [...more.reverse(), ...(lanes.get(key) ?? [])]);
    }
    this.#size += jobs.length;
  }

  /** The job that should start next, which waits no longer. */
  take(): ClaimedJob | undefined {
    if (this.#size === 0) return undefined;
    const rank = this.#ranks.size === 1 ? this.#ranks.keys().next().value! : Math.min(...this.#ranks.keys());
    const lanes = this.#ranks.get(rank)!;
    const [key, jobs] = lanes.entries().next().value!;
    const job = jobs.pop()!;
    if (lanes.size > 1 || jobs.length === 0) {
      lanes.delete(key);
      if (jobs.length > 0) lanes.set(key, jobs);
      else if (lanes.size === 0) this.#ranks.delete(rank);
    }
    this.#size -= 1;
    return job;
  }

  /** Takes out those for which `isOut` holds. */
  remove(isOut: (job: ClaimedJob) => boolean): ClaimedJob[] {
    const all = [...this];
    this.#ranks.clear();
    this.#size = 0;
    this.add(all.filter((job) => !isOut(job)));
    return all.filter(isOut);
  }

  /** In the order in which the jobs of a lane start. */
  *[Symbol.iterator](): Generator<ClaimedJob> {
    for (const lanes of this.#ranks.values()) for (const jobs of lanes.values()) yield* jobs.toReversed();
  }
}
