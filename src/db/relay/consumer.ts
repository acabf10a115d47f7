import { setTimeout as delay } from 'node:timers/promises';
import type { RelayedEvent } from './relay.store.ts';

/** How long a call may take to give up, in milliseconds. */
const graceMs = 500;

/** Who gets the events of the outboxes. */
export interface Consumer {
  /** Unique and lasting: the database notes under this name what the consumer has had. */
  readonly name: string;
  /**
   * Takes events in the order in which they were written; resolves when all of them are safely stored. An event may come again, with
   * the same `id`, after an error, a crash or a timeout. An error means that none of them counts as taken. `signal` asks to give up.
   */
  readonly take: (events: readonly RelayedEvent[], signal: AbortSignal) => Promise<void>;
}

/** Calls a consumer, one call at a time. */
export interface Calls {
  readonly take: (events: readonly RelayedEvent[], signal: AbortSignal) => Promise<void>;
  /** Whether a call has not ended though its time is over. */
  readonly hangs: () => boolean;
}

/** The consumer itself fails, not a subject: nothing more is handed to it for a while. */
export class ConsumerTrouble extends Error {
  override readonly name = 'ConsumerTrouble';
}

/**
 * Calls a consumer with a time limit. A call that does not end in time counts as failed; no other one begins before it has ended,
 * because two calls at once could store a subject's events in any order.
 */
export function callsOf({ name, take }: Consumer, limitMs: number): Calls {
  let open = 0;
  return {
    hangs: () => open > 0,
    async take(events, signal) {
      signal.throwIfAborted();
      if (open > 0) throw new ConsumerTrouble(`${name}: an earlier call has not ended`);
      open += 1;
      const timeUp = new AbortController();
      const ended = AbortSignal.any([signal, timeUp.signal]);
      const call = (async () => take(events, ended))().finally(() => (open -= 1));
      const late = new Error(`${name}: no answer in time`);
      try {
        await inTime(call, ended, () => timeUp.abort(late), limitMs);
      } catch (error) {
        // The subject is not at fault when nothing else can be handed over either.
        throw open > 0 ? new ConsumerTrouble(late.message, { cause: error }) : error;
      }
    },
  };
}

async function inTime(
  call: Promise<void>,
  ended: AbortSignal,
  end: () => void,
  limitMs: number,
): Promise<void> {
  const timer = setTimeout(end, limitMs);
  let leave = () => {};
  const given = new Promise<never>((_, reject) => {
    leave = () => reject(ended.reason as Error);
    ended.addEventListener('abort', leave);
  });
  try {
    await Promise.race([call, given]);
  } catch (error) {
    // A call that gives up when it is asked to has ended, and the next one may begin.
    await Promise.race([call.catch(() => {}), delay(graceMs, undefined, { ref: false })]);
    throw error;
  } finally {
    clearTimeout(timer);
    ended.removeEventListener('abort', leave);
  }
}
