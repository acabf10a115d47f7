import { type Calls, ConsumerTrouble } from './consumer.ts';
import type { Numbered } from './relay.store.ts';

/** The events of one subject, in order. */
export type OfSubject = readonly [Numbered, ...Numbered[]];

export interface Failed {
  readonly events: OfSubject;
  readonly error: unknown;
}

/** So many failures without a success between them may be the fault of the consumer: halving 500 subjects takes nine. */
const mostInARow = 16;
/** The most subjects with which it is tried then whether the consumer works. */
const mostProbes = 3;

/** Groups events by subject, in the order of their first events. */
export function bySubject(events: readonly Numbered[]): OfSubject[] {
  const groups = new Map<string, [Numbered, ...Numbered[]]>();
  for (const one of events) {
    const subject = JSON.stringify([one.event.tenant, one.event.subject]);
    const group = groups.get(subject);
    if (group === undefined) groups.set(subject, [one]);
    else group.push(one);
  }
  return [...groups.values()];
}

/**
 * Hands events to a consumer, all at once if it takes them. If not, each half is tried, and so on, until the subjects that fail are
 * found; the others have had their events then. Throws when the consumer itself fails: then some events may have been taken, and all
 * of them are handed to it again. However many subjects fail, it does not fail itself while it takes others.
 */
export async function hand(
  calls: Calls,
  subjects: readonly OfSubject[],
  signal: AbortSignal,
): Promise<Failed[]> {
  const failed: Failed[] = [];
  const taken = new Set<OfSubject>();
  let inARow = 0;

  async function take(part: readonly OfSubject[]): Promise<{ error: unknown } | undefined> {
    const events = part.flat().sort((a, b) => a.number - b.number);
    try {
      await calls.take(
        events.map(({ event }) => event),
        signal,
      );
    } catch (error) {
      if (signal.aborted || error instanceof ConsumerTrouble) throw error;
      inARow += 1;
      return { error };
    }
    inARow = 0;
    for (const subject of part) taken.add(subject);
    return undefined;
  }

  async function attempt(all: readonly OfSubject[]): Promise<void> {
    const part = all.filter((subject) => !taken.has(subject));
    const [first] = part;
    if (first === undefined) return;
    const failure = await take(part);
    if (failure === undefined) return;
    if (inARow >= mostInARow && !(await works()))
      throw new ConsumerTrouble('everything fails', { cause: failure.error });
    if (part.length === 1) failed.push({ events: first, error: failure.error });
    else {
      const middle = Math.ceil(part.length / 2);
      await attempt(part.slice(0, middle));
      await attempt(part.slice(middle));
    }
  }

  /**
   * Whether the consumer takes any subject: one that it has taken, which it may get again, or else one that has not been tried, of a
   * tenant without failures if there is one. Chance decides among them, so that the next time others are tried.
   */
  async function works(): Promise<boolean> {
    const failing = new Set(failed.map(({ events }) => events));
    const tenants = new Set(failed.map(({ events }) => tenantOf(events)));
    const placeOf = (subject: OfSubject) => (taken.has(subject) ? 0 : tenants.has(tenantOf(subject)) ? 2 : 1);
    const probes = subjects
      .filter((subject) => !failing.has(subject))
      .map((subject) => ({ subject, place: placeOf(subject) + Math.random() }))
      .sort((one, other) => one.place - other.place);
    for (const { subject } of probes.slice(0, mostProbes))
      if ((await take([subject])) === undefined) return true;
    return false;
  }

  await attempt(subjects);
  return failed;
}

const tenantOf = ([{ event }]: OfSubject): string => event.tenant;
