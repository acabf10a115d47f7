import { type Calls, ConsumerTrouble } from './consumer.ts';
import type { Numbered } from './relay.store.ts';

/** The events of one subject, in order. */
export type OfSubject = readonly [Numbered, ...Numbered[]];

export interface Failed {
  readonly events: OfSubject;
  readonly error: unknown;
}

/** So many failures without a success between them are not the fault of subjects: halving 500 subjects takes nine. */
const mostInARow = 16;

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
 * of them are handed to it again.
 */
export async function hand(
  calls: Calls,
  subjects: readonly OfSubject[],
  signal: AbortSignal,
): Promise<Failed[]> {
  const failed: Failed[] = [];
  let inARow = 0;

  async function attempt(part: readonly OfSubject[]): Promise<void> {
    const [first] = part;
    if (first === undefined) return;
    try {
      const events = part.flat().sort((a, b) => a.number - b.number);
      await calls.take(
        events.map(({ event }) => event),
        signal,
      );
      inARow = 0;
    } catch (error) {
      if (signal.aborted || error instanceof ConsumerTrouble) throw error;
      inARow += 1;
      if (inARow >= mostInARow) throw new ConsumerTrouble('everything fails', { cause: error });
      if (part.length === 1) failed.push({ events: first, error });
      else {
        const middle = Math.ceil(part.length / 2);
        await attempt(part.slice(0, middle));
        await attempt(part.slice(middle));
      }
    }
  }

  await attempt(subjects);
  return failed;
}
