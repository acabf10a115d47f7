import type { Change, Position } from './changes.ts';

/** How many subjects are remembered one by one; beyond that the older half is forgotten and entries from before are read again. */
const capacity = 100_000;

/**
 * Counts the changes that this process has applied and remembers when each subject changed last. A cached entry keeps the count from
 * before its read; it is current while none of its subjects has a higher one.
 */
export function positions(limit = capacity) {
  let count = 0;
  /** Entries from before it are never current. */
  let floor = 0;
  const changedAt = new Map<string, number>();

  /** A map keeps the order of insertion, and a subject that changes again moves to the end: the first half is the older one. */
  function halve(): void {
    let surplus = changedAt.size - Math.floor(limit / 2);
    for (const [subject, at] of changedAt) {
      if (surplus-- <= 0) return;
      floor = at;
      changedAt.delete(subject);
    }
  }

  return {
    position: (): Position => count,
    isCurrent(position: Position, subjects: readonly Change[]): boolean {
      // Most of the time nothing at all has changed since.
      if (position === count) return true;
      return (
        position >= floor && subjects.every((subject) => (changedAt.get(nameOf(subject)) ?? 0) <= position)
      );
    },
    mark(change: Change): void {
      const name = nameOf(change);
      changedAt.delete(name);
      changedAt.set(name, ++count);
      if (changedAt.size > limit) halve();
    },
    /** Changes were missed: nothing that was read so far is current. */
    forget(): void {
      floor = ++count;
      changedAt.clear();
    },
  };
}

const nameOf = ({ kind, id }: Change) => `${kind}\0${id}`;
