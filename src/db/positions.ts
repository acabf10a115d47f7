import type { Change, Position } from './changes.ts';

/** How many subjects are remembered individually; beyond that the older half is forgotten, and older entries must be read again. */
const capacity = 100_000;

/**
 * Counts the changes that this process has applied, and remembers the count at which each subject last changed. A cached entry keeps
 * the count from before its read; it is current while none of its subjects has a higher count.
 */
export function positions(limit = capacity) {
  let count = 0;
  /** Entries with a lower position are never current. */
  let floor = 0;
  const changedAt = new Map<string, number>();

  /** Forgets the older half, which comes first: a map keeps insertion order, and a subject that changes again moves to the end. */
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
      // Usually nothing at all has changed since.
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
    /** Called when changes were missed: makes every entry that was read so far outdated. */
    forget(): void {
      floor = ++count;
      changedAt.clear();
    },
  };
}

const nameOf = ({ kind, id }: Change) => `${kind}\0${id}`;
