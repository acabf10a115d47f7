import { setImmediate as nextTurn } from 'node:timers/promises';
import { Unavailable } from '../../lib/errors.ts';
import { groupCommit } from '../group-commit.ts';
import type { Database } from '../index.ts';
import type { Log } from '../log.ts';
import type { ClaimedJob } from './claim.store.ts';
import { limits } from './limits.ts';
import type { Outcome } from './outcomes.ts';
import { isPassing, repeated } from './repetition.ts';
import { concludeAlone } from './settle.ts';
import { settleStore } from './settle.store.ts';

/** The end of an attempt: the JSON text of its result, or what else becomes of the job. */
export type End = { readonly output: string | null } | { readonly outcome: Outcome };

/** Records the ends of attempts, in batches: what ends while one is written forms the next. */
export interface Settler {
  /** Resolves when the end is recorded, or does not count any more because the job was lost. */
  settle(job: ClaimedJob, end: End): Promise<void>;
  /** Whether so many ends are still to be recorded that nothing more should begin. */
  isFull(): boolean;
  /** The ids of the jobs whose ends are still to be recorded. */
  unsettled(): Iterable<string>;
  /** Records what has ended. After `deadlineMs` the rest is given up: the jobs then run again. */
  close(deadlineMs: number): Promise<void>;
}

interface Item {
  readonly job: ClaimedJob;
  readonly end: End;
}

/** The most ends that are still to be recorded before nothing more begins. */
const mostUnsettled = 3_000;
/** The most ends of one statement. */
const mostTogether = 1_000;
/** More ends than slots and waiting jobs can ever have. */
const backlog = 100_000;

export function createSettler({
  db,
  log,
  hint,
}: {
  readonly db: Database;
  readonly log: Log;
  readonly hint: (queues: ReadonlySet<string>) => void;
}): Settler {
  const open = new Map<string, Item>();
  let collected: Item[] = [];
  let collecting: Promise<void> | undefined;
  let deadline = Infinity;
  const ended = () => performance.now() > deadline;
  const group = groupCommit<Item>({
    write: (items) => record(items),
    maxBatch: mostTogether,
    maxBacklog: backlog,
    weight: {
      of: ({ end }) => ('output' in end ? (end.output?.length ?? 0) : 0),
      most: limits.statementBytes,
    },
    overloaded: () => Unavailable('too many jobs have ended'),
  });

  /** What ends in one turn of the event loop is recorded together: jobs that do nothing end by the hundred. */
  async function collect(): Promise<void> {
    await nextTurn();
    const items = collected;
    collected = [];
    collecting = undefined;
    await group.add(...items).catch(() => {});
    for (const item of items) if (open.get(item.job.id) === item) open.delete(item.job.id);
  }

  async function record(items: readonly Item[]): Promise<void> {
    try {
      await repeated(() => write(items), ended);
    } catch (error) {
      if (isPassing(error) || items.length === 1)
        log.error(
          { err: error, jobs: items.length },
          'ends of jobs could not be recorded, and the jobs run again',
        );
      else for (const item of items) await record([item]);
    }
  }

  async function write(items: readonly Item[]): Promise<void> {
    const done = items.flatMap(({ job, end }) =>
      'output' in end ? [{ ...executionOf(job), output: end.output }] : [],
    );
    const rest = items.flatMap(({ job, end }) =>
      'outcome' in end ? [{ ...executionOf(job), outcome: end.outcome }] : [],
    );
    if (done.length > 0) await settleStore(db.background).complete(done);
    if (rest.length > 0) hint((await concludeAlone(db, rest)).queues);
  }

  return {
    settle(job, end) {
      const item = { job, end };
      open.set(job.id, item);
      collected.push(item);
      return (collecting ??= collect());
    },
    isFull: () => open.size >= mostUnsettled,
    unsettled: () => open.keys(),
    async close(deadlineMs) {
      deadline = performance.now() + deadlineMs;
      await collecting;
      await group.close();
    },
  };
}

export const executionOf = ({ tenant_id, id, lease_id, turn }: ClaimedJob) => ({
  tenant_id,
  id,
  lease_id,
  turn,
});
