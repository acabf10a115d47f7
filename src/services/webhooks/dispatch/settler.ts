import { isPassing, repeated } from '../../../db/engine/repetition.ts';
import { groupCommit } from '../../../db/group-commit.ts';
import type { Database, Log } from '../../../db/index.ts';
import { Unavailable } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import type { Attempt } from '../../../delivery/attempt.ts';
import type { Claimed, Target } from './claim.store.ts';
import type { Outcome } from './outcomes.ts';
import { recordEnds } from './endings.ts';
import { settleStore, type Settlement } from './settle.store.ts';

/** An attempt that has ended. */
export interface Ended {
  readonly delivery: Claimed;
  readonly target: Target;
  readonly attempt: Attempt;
  readonly outcome: Outcome;
}

/** Records the ends of attempts, in batches: what ends while one is written forms the next. */
export interface Settler {
  /** Resolves when the end is recorded, or does not count any more because the delivery was lost. */
  settle(ended: Ended): Promise<void>;
  /** Whether so many ends are still to be recorded that nothing more should begin. */
  isFull(): boolean;
  /** Records what has ended. After `deadlineMs` the rest is given up, and attempted again. */
  close(deadlineMs: number): Promise<void>;
}

export interface SettlerDeps {
  readonly db: Database;
  readonly log: Log;
  readonly disableAfterMs: number;
}

const mostUnsettled = 10_000;
const mostAtOnce = 500;
const mostBytes = 4 * 1_024 * 1_024;

export function createSettler(deps: SettlerDeps): Settler {
  const { log } = deps;
  let open = 0;
  let deadline = Infinity;
  const group = groupCommit<Ended>({
    write: (list) => record(list),
    maxBatch: mostAtOnce,
    // The attempts in flight bound what can come on top of what is full.
    maxBacklog: 3 * mostUnsettled,
    weight: { of: ({ attempt }) => attempt.response?.length ?? 0, most: mostBytes },
    overloaded: () => Unavailable('too many attempts have ended'),
  });

  async function record(list: readonly Ended[]): Promise<void> {
    try {
      await repeated(
        () => write(deps, list),
        () => performance.now() > deadline,
      );
    } catch (error) {
      if (isPassing(error) || list.length === 1)
        log.error({ err: error, attempts: list.length }, 'ends of attempts could not be recorded');
      else for (const ended of list) await record([ended]);
    }
  }

  return {
    async settle(ended) {
      open += 1;
      await group.add(ended).finally(() => (open -= 1));
    },
    isFull: () => open >= mostUnsettled,
    async close(deadlineMs) {
      deadline = performance.now() + deadlineMs;
      await group.close();
    },
  };
}

/** One statement, if nothing is to be noted besides: successes of lanes that are known to be healthy. */
async function write({ db, disableAfterMs }: SettlerDeps, list: readonly Ended[]): Promise<void> {
  const settlements = list.map(settlementOf);
  if (list.every(changesNoLane)) await settleStore(db.background).settle(settlements);
  else
    await db.transaction(async (sql) => {
      const settled = await settleStore(sql).settle(settlements);
      await recordEnds(sql, { settled, list, disableAfterMs });
    });
}

export const changesNoLane = ({ outcome, target }: Ended): boolean =>
  outcome.lane.sign === 'success' &&
  target.is_healthy &&
  target.last_success_ms !== null &&
  Date.now() - target.last_success_ms < 1_000;

const settlementOf = ({ delivery, target, attempt, outcome }: Ended): Settlement => ({
  tenant_id: delivery.tenant_id,
  id: delivery.id,
  lease_id: delivery.lease_id,
  turn: delivery.turn,
  attempt_id: newId('att'),
  url: target.url,
  result: outcome.result,
  status_code: outcome.statusCode,
  error: outcome.error,
  response: attempt.response,
  latency_ms: attempt.latencyMs,
  delay_ms: outcome.delayMs,
  age_ms: Math.max(0, Date.now() - attempt.startedAt),
  dlq_id: outcome.result === 'failed' ? newId('dlq') : null,
});
