import { nextDelay } from '../../lib/back-off.ts';
import type { Log } from '../log.ts';
import { type Calls, ConsumerTrouble } from './consumer.ts';
import { bySubject, hand, type Failed, type OfSubject } from './handing.ts';
import type { DueTenant, Held, PassageStore } from './relay.store.ts';

/** Milliseconds until what failed is tried again; the last one holds for all later failures. */
const retriesMs = [1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000];

/** How long to wait after so many failures in succession. */
export const retryAfter = (failures: number): number =>
  nextDelay(retriesMs, Math.min(failures, retriesMs.length), Math.random()) ?? 0;

/** The way of the events of one outbox to one consumer. */
export interface Passage {
  readonly service: string;
  /** Numbers new events. */
  readonly number: () => Promise<void>;
  /** Hands on the next events, and those of held subjects and tenants whose time has come. Returns whether there may be more. */
  readonly forward: (signal: AbortSignal) => Promise<boolean>;
}

interface Deps {
  readonly service: string;
  readonly store: PassageStore;
  readonly calls: Calls;
  readonly log: Log;
}

export function passage({ service, store, calls, log }: Deps): Passage {
  /** Returns whether some of the subjects have more events that could be tried at once. */
  async function retryHeld(reached: number, signal: AbortSignal): Promise<boolean> {
    const due = await store.due();
    if (due.length === 0) return false;
    let taken = false;
    const { events, all } = await store.waiting(due, reached);
    const found = new Map(bySubject(events).map((group) => [keyOf(heldOf(group)), group]));
    for (const subject of due) {
      signal.throwIfAborted();
      const group = found.get(keyOf(subject));
      // Without all events, one that has none here may have some later.
      if (group === undefined) {
        if (all) await store.release(subject, [], false, reached);
        continue;
      }
      const [failure] = await hand(calls, [group], signal);
      if (failure === undefined) {
        // Another process has taken over when this one was silent for longer than its lease.
        if (!(await store.release(subject, group.map(numberOf), !all, reached))) return false;
        taken = true;
      } else {
        warn(failure);
        await store.putOff(subject, retryAfter(subject.failures + 1));
      }
    }
    return taken && !all;
  }

  /**
   * Hands on the next events of a tenant that was put aside, of which fewer subjects fail by now. If nothing of it is taken, that says
   * nothing of the consumer, which is tried with the events of others next. Returns whether the tenant may have more.
   */
  async function retryTenant(tenant: DueTenant, reached: number, signal: AbortSignal): Promise<boolean> {
    const { events, last, all } = await store.waitingOf(tenant, reached);
    try {
      const failed = await hand(calls, bySubject(events), signal);
      failed.forEach(warn);
      const kept = failed.map(({ events: group }) => heldOf(group));
      return (await store.goOn(tenant, all ? reached : last!, kept, retryAfter(1), reached)) && !all;
    } catch (error) {
      if (!(error instanceof ConsumerTrouble) || calls.hangs()) throw error;
      await store.putOffTenant(tenant, retryAfter(tenant.failures + 1));
      return false;
    }
  }

  async function retryTenants(reached: number, signal: AbortSignal): Promise<boolean> {
    let more = false;
    for (const tenant of await store.dueTenants()) {
      signal.throwIfAborted();
      if (await retryTenant(tenant, reached, signal)) more = true;
    }
    return more;
  }

  const warn = ({ events: [{ event }], error }: Failed) =>
    log.warn(
      { err: error, service, event: event.id, type: event.type },
      'an event was not taken; the later ones of its subject wait',
    );

  return {
    service,
    number: () => store.number(),
    async forward(signal) {
      const { reached, held } = await store.standing();
      const retried =
        held === 0 ? [] : [await retryHeld(reached, signal), await retryTenants(reached, signal)];
      const more = retried.includes(true);
      const { events, last, all } = await store.next(reached);
      if (last === undefined) return more;
      const failed = await hand(calls, bySubject(events), signal);
      failed.forEach(warn);
      const kept = failed.map(({ events: group }) => heldOf(group));
      const advanced = await store.advance(reached, last, kept, retryAfter(1));
      // Events that are written meanwhile wait for the next look: a turn for a few of them costs as much as one for hundreds.
      return advanced && (more || !all);
    },
  };
}

const numberOf = ({ number }: { number: number }) => number;
const heldOf = ([{ event, number }]: OfSubject): Held => ({
  tenant: event.tenant,
  subject: event.subject,
  number,
});
const keyOf = ({ tenant, subject }: Held) => JSON.stringify([tenant, subject]);
