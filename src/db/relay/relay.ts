import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../index.ts';
import type { Log } from '../log.ts';
import { forgottenDays } from '../outbox-readers.ts';
import { staying, type Sweep } from '../sweeps.ts';
import { callsOf, type Consumer } from './consumer.ts';
import { passage, retryAfter, type Passage } from './passage.ts';
import { type Outbox, passageStore, register, withNews } from './relay.store.ts';

export type { Consumer } from './consumer.ts';
export type { Outbox, RelayedEvent } from './relay.store.ts';

export interface RelayOptions {
  readonly db: Database;
  readonly log: Log;
  readonly outboxes: readonly Outbox[];
  readonly consumers: readonly Consumer[];
  /** Milliseconds between two looks for new events. */
  readonly everyMs?: number;
  /** Milliseconds that a call of a consumer may take. */
  readonly limitMs?: number;
}

/**
 * Hands every event to every consumer at least once, also when processes are killed, and the events of a subject in the order in
 * which they were written: an event that was written when another one was committed already comes after it. Events of transactions
 * that knew nothing of one another have no order.
 *
 * Transactions commit in another order than the one in which their rows got their `seq`, so a reader that only remembered the last
 * `seq` would miss some events. Therefore committed events are numbered, by one process at a time, before they are handed on, and what
 * a consumer has had is one number. This holds whatever other transactions are open, and after a restore into another server, where
 * transaction ids begin anew.
 *
 * One process at a time serves a consumer: each is a sweep, which the engine runs. A subject that fails is put aside, and with it its
 * own later events only; a tenant of which many subjects fail is put aside as a whole. When all consumers have had an event, it is deleted. A consumer that is stuck keeps its events, however old
 * they become; they are counted in the metrics, and one that no process has run for a week is forgotten.
 */
export function relaySweeps(options: RelayOptions): Sweep[] {
  const { db, log, outboxes, consumers, everyMs = 1_000 } = options;
  const services = outboxes.map(({ service }) => service);
  const names = consumers.map(({ name }) => name);

  async function note(): Promise<void> {
    const forgotten = await register(db.background, services, names);
    if (forgotten.length > 0)
      log.error(
        { forgotten },
        `nobody ran a consumer for ${forgottenDays} days; it has missed the events that were deleted meanwhile`,
      );
  }

  return consumers.map((consumer): Sweep => {
    const forward = forwarding(options, consumer);
    return {
      name: `relay.${consumer.name}`,
      everyMs,
      batch: 1,
      steps: [
        async () => {
          await note();
          return 0;
        },
        staying(everyMs, forward),
      ],
    };
  });
}

/** Returns a function that hands on all events that a consumer has not had. */
function forwarding({ db, log, outboxes, limitMs = 30_000 }: RelayOptions, consumer: Consumer) {
  const calls = callsOf(consumer, limitMs);
  const passages = outboxes.map((outbox) => {
    const store = passageStore(db, outbox, consumer.name);
    return passage({ service: outbox.service, store, calls, log });
  });
  const services = outboxes.map(({ service }) => service);
  let failures = 0;
  return async (signal: AbortSignal): Promise<void> => {
    const busy = await withNews(db.background, services, consumer.name);
    const trouble = await forwardAll(
      passages.filter(({ service }) => busy.has(service)),
      signal,
    );
    failures = trouble === undefined ? 0 : failures + 1;
    if (trouble === undefined) return;
    // The sweep is held meanwhile, so that the other processes do not try in its place.
    await delay(retryAfter(failures), undefined, { signal, ref: false }).catch(() => {});
    throw trouble.error;
  };
}

/** Hands on everything there is, outbox by outbox in turn. Returns the last error; an outbox that fails does not stop the others. */
async function forwardAll(
  passages: readonly Passage[],
  signal: AbortSignal,
): Promise<{ error: unknown } | undefined> {
  let trouble: { error: unknown } | undefined;
  let active = [...passages];
  while (active.length > 0 && !signal.aborted) {
    const again: Passage[] = [];
    for (const one of active) {
      try {
        await one.number();
        if (await one.forward(signal)) again.push(one);
      } catch (error) {
        if (signal.aborted) return undefined;
        trouble = { error };
      }
    }
    active = again;
  }
  return trouble;
}
