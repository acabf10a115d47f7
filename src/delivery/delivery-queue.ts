import type { DueRows, Engine } from '../db/engine/index.ts';
import { isPassing } from '../db/engine/repetition.ts';
import type { Log } from '../db/log.ts';
import type { Outbound } from '../lib/outbound.ts';
import { attempt, type AttemptRequest, type Ending } from './attempt.ts';
import type { LaneEffect } from './lane-effects.ts';
import { unbuilt } from './problems.ts';
import { delayAfter, usualSchedule, type Schedule } from './schedule.ts';
import { usualRules, verdictOf, type StatusRules, type Verdict } from './verdict.ts';

/** A delivery that this process has claimed for a while. */
export interface DueDelivery {
  /** The number of earlier attempts, all of which failed. */
  readonly attempts: number;
}

/** What an attempt means for its delivery. */
export interface Outcome {
  readonly state: 'pending' | 'delivered' | 'failed';
  readonly statusCode: number | null;
  readonly error: string | null;
  /** Seconds until the next attempt; null if there is none. */
  readonly delay: number | null;
  /** What the attempt says about the receiver. */
  readonly lane: LaneEffect;
}

export interface DeliveryQueueOptions<Due extends DueDelivery> {
  readonly engine: Pick<Engine, 'dueRows'>;
  readonly outbound: Pick<Outbound, 'stream'>;
  readonly log: Log;
  /** Unique among all queues: `<service>_<what>`. */
  readonly name: string;
  /** Claims up to `count` due deliveries for `claimSeconds`. */
  readonly claim: (count: number) => Promise<Due[]>;
  /**
   * Makes the request of an attempt. After an error nothing is sent: when the database was away, the delivery becomes due again when its
   * claim ends; for any other reason it has failed, because the next attempt would end in the same way.
   */
  readonly request: (due: Due) => AttemptRequest | Promise<AttemptRequest>;
  /** Stores the outcome of an attempt. */
  readonly settle: (due: Due, outcome: Outcome) => Promise<void>;
  readonly schedule?: Schedule;
  readonly rules?: StatusRules;
}

/** The most deliveries that each process attempts at once. */
const width = 64;

/** The most milliseconds from the start of an attempt to the head of the answer. */
const timeoutMs = 15_000;

/** How long a delivery is claimed, in seconds: longer than an attempt can take. */
export const claimSeconds = 60;

/**
 * Posts what the rows of a service's table have to deliver, at least once each, by any of the processes. The receivers were chosen by
 * outside parties: no request reaches the server's own network, and none is redirected.
 */
export const createDeliveryQueue = <Due extends DueDelivery>({
  engine,
  outbound,
  log,
  name,
  claim,
  request,
  settle,
  schedule = usualSchedule,
  rules = usualRules,
}: DeliveryQueueOptions<Due>): DueRows => {
  async function endingOf(due: Due): Promise<Ending> {
    let built: AttemptRequest;
    try {
      built = await request(due);
    } catch (error) {
      if (isPassing(error)) throw error;
      log.error({ err: error, queue: name }, 'the request of a delivery could not be made');
      return { problem: unbuilt };
    }
    return (await attempt(outbound, built, timeoutMs)).ending;
  }

  return engine.dueRows<Due>({
    name,
    width,
    claim,
    async run(due) {
      const ending = await endingOf(due);
      const verdict = verdictOf(ending, rules, Date.now());
      const outcome = outcomeOf(verdict, due, schedule, Math.random());
      await settle(due, outcome);
      return outcome.delay === null ? undefined : outcome.delay * 1_000;
    },
  });
};

/** @param chance from 0 to 1, varies the delay */
export function outcomeOf(
  { result, retryAfter, ...seen }: Verdict,
  { attempts }: DueDelivery,
  schedule: Schedule,
  chance: number,
): Outcome {
  if (result === 'delivered') return { ...seen, state: 'delivered', delay: null };
  const delay = result === 'final' ? undefined : delayAfter(schedule, attempts + 1, retryAfter, chance);
  return delay === undefined
    ? { ...seen, state: 'failed', delay: null }
    : { ...seen, state: 'pending', delay };
}
