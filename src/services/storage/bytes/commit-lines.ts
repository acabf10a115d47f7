import { groupCommit, type GroupCommit } from '../../../db/group-commit.ts';
import { DomainError, Internal, Unavailable } from '../../../lib/errors.ts';
import { constraints } from '../errors.ts';

/** What became of a write that shared a commit with others. */
export type Outcome<Committed> = { readonly committed: Committed } | { readonly refusal: Error };

/** @param refused the name under which a commit function refused the write; null when it is committed */
export const outcomeOf = <Committed>(refused: string | null, committed: Committed): Outcome<Committed> =>
  refused === null
    ? { committed }
    : { refusal: constraints[refused]?.() ?? Internal(new Error(`a write was refused: ${refused}`)) };

export interface CommitLines<Place, Write, Committed> {
  /** Commits a write. Throws what it is refused for. */
  commit(place: Place, write: Write): Promise<Committed>;
}

export interface CommitLinesOptions<Place, Write, Committed> {
  /** A text for each place: writes of one place form a line. */
  readonly nameOf: (place: Place) => string;
  /** Commits writes of one place in one transaction. Throws only when none of them is committed. */
  readonly together: (place: Place, writes: readonly Write[]) => Promise<readonly Outcome<Committed>[]>;
}

/** The most writes of one commit: PostgreSQL keeps track of about so many steps that can be undone by themselves. */
const mostTogether = 50;
/** More writes than this never wait: there are fewer transfers. */
const mostWaiting = 100_000;

interface Item<Write, Committed> {
  readonly write: Write;
  outcome?: Outcome<Committed>;
}

interface Line<Write, Committed> {
  readonly commits: GroupCommit<Item<Write, Committed>>;
  waiting: number;
}

/**
 * Commits the writes of a place one after the other; those that arrive during a commit share the next one. Each of them has to wait for the
 * row that counts the usage of the place until the one before is durable, so alone they could not be faster than the disk.
 */
export function createCommitLines<Place, Write, Committed>({
  nameOf,
  together,
}: CommitLinesOptions<Place, Write, Committed>): CommitLines<Place, Write, Committed> {
  const lines = new Map<string, Line<Write, Committed>>();

  async function alone(place: Place, write: Write): Promise<Outcome<Committed>> {
    try {
      const [outcome] = await together(place, [write]);
      return outcome!;
    } catch (error) {
      return { refusal: error as Error };
    }
  }

  async function writeAll(place: Place, items: readonly Item<Write, Committed>[]): Promise<void> {
    const writes = items.map(({ write }) => write);
    const outcomes = await together(place, writes).catch((error: unknown) => {
      if (items.length > 1 && isQuota(error)) return undefined;
      throw error;
    });
    // There is no room for all of them, but there may be for some.
    for (const [at, item] of items.entries())
      item.outcome = outcomes?.[at] ?? (await alone(place, item.write));
  }

  const lineOf = (place: Place): Line<Write, Committed> => ({
    commits: groupCommit({
      write: (items) => writeAll(place, items),
      maxBatch: mostTogether,
      maxBacklog: mostWaiting,
      overloaded: () => Unavailable('too many contents are being stored'),
    }),
    waiting: 0,
  });

  return {
    async commit(place, write) {
      const name = nameOf(place);
      const line = lines.get(name) ?? lineOf(place);
      lines.set(name, line);
      line.waiting += 1;
      const item: Item<Write, Committed> = { write };
      try {
        await line.commits.add(item);
      } finally {
        line.waiting -= 1;
        if (line.waiting === 0) lines.delete(name);
      }
      const outcome = item.outcome!;
      if ('refusal' in outcome) throw outcome.refusal;
      return outcome.committed;
    },
  };
}

/** The quotas refuse all writes together. */
const isQuota = (error: unknown): boolean => error instanceof DomainError && error.kind === 'tooLarge';
