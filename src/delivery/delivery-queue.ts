import type { DueRows, Engine } from '../db/engine/index.ts';
import type { Outbound } from '../lib/outbound.ts';
import { attempt, usualRules, type AttemptRequest, type StatusRules, type Verdict } from './attempt.ts';
import { delayAfter, usualSchedule, type Schedule } from './schedule.ts';

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
}

export interface DeliveryQueueOptions<Due extends DueDelivery> {
  readonly engine: Pick<Engine, 'dueRows'>;
  readonly outbound: Pick<Outbound, 'send'>;
  /** Unique among all queues: `<service>_<what>`. */
  readonly name: string;
  /** Claims up to `count` due deliveries for `claimSeconds`. */
  readonly claim: (count: number) => Promise<Due[]>;
  /** Makes the request of an attempt. After an error nothing is sent, and the delivery becomes due again when its claim ends. */
  readonly request: (due: Due) => AttemptRequest | Promise<AttemptRequest>;
  /** Stores the outcome of an attempt. */
  readonly settle: (due: Due, outcome: Outcome) => Promise<void>;
  readonly schedule?: Schedule;
  readonly rules?: StatusRules;
}

/** The most deliveries that each process attempts at once. */
const width = 16;

/**
 * Posts what the rows of a service's table have to deliver, at least once each, by any of the processes. The receivers were chosen by
 * outside parties: no request reaches the server's own network, and none is redirected.
 */
export const createDeliveryQueue = <Due extends DueDelivery>({
  engine,
  outbound,
  name,
  claim,
  request,
  settle,
  schedule = usualSchedule,
  rules = usualRules,
}: DeliveryQueueOptions<Due>): DueRows =>
  engine.dueRows<Due>({
    name,
    width,
    claim,
    async run(due) {
      const verdict = await attempt(outbound, await request(due), rules);
      const outcome = outcomeOf(verdict, due, schedule, Math.random());
      await settle(due, outcome);
      return outcome.delay === null ? undefined : outcome.delay * 1_000;
    },
  });

/** @param chance from 0 to 1, varies the delay */
export function outcomeOf(
  { result, statusCode, error, retryAfter }: Verdict,
  { attempts }: DueDelivery,
  schedule: Schedule,
  chance: number,
): Outcome {
  if (result === 'delivered') return { state: 'delivered', statusCode, error, delay: null };
  const delay = result === 'final' ? undefined : delayAfter(schedule, attempts + 1, retryAfter, chance);
  return delay === undefined
    ? { state: 'failed', statusCode, error, delay: null }
    : { state: 'pending', statusCode, error, delay };
}
