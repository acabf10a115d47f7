import { LRUCache } from 'lru-cache';
import { batchedReads } from './batched-reads.ts';
import type { Change, Changes, Position } from './changes.ts';

export interface FreshCache<Wanted, Value> {
  /** What is kept under the key. Undefined when nothing is, or when it may be out of date. */
  get(key: string): Value | undefined;
  /** The same from where it is kept for good, kept here from then on. Undefined when there is no such thing. */
  load(wanted: Wanted): Promise<Value | undefined>;
}

export interface FreshCacheOptions<Wanted, Value> {
  /** How many values are kept; 0 keeps none. */
  readonly size: number;
  readonly changes: Pick<Changes, 'position' | 'isCurrent'>;
  /** Finds all of these, by `nameOf`. */
  readonly read: (wanted: Wanted[]) => Promise<ReadonlyMap<string, Value>>;
  /** By which `get` finds it. */
  readonly keyOf: (wanted: Wanted) => string;
  /** By which questions that are the same are known; without it by the key. */
  readonly nameOf?: (wanted: Wanted) => string;
  /** What the value depends on. */
  readonly subjectsOf: (value: Value) => readonly Change[];
  /** Milliseconds that a value is kept at most. */
  readonly lifetimeOf?: (value: Value) => number;
  /** How many reads are in flight at most. */
  readonly width?: number;
  /** Milliseconds of a clock that never jumps. */
  readonly clock?: () => number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly position: Position;
  readonly subjects: readonly Change[];
  readonly keptUntil: number;
}

/** Entries are read again after a minute, whatever happened. */
const minute = () => 60_000;

/**
 * Keeps what answers are made from. An entry counts only if nothing it depends on has changed since its position, which is
 * taken before it is read: a revocation that races the read wins. When this process may have missed a change, no entry counts.
 */
export function createFreshCache<Wanted, Value>({
  size,
  changes,
  read,
  keyOf,
  nameOf = keyOf,
  subjectsOf,
  lifetimeOf = minute,
  width = 1,
  clock = () => performance.now(),
}: FreshCacheOptions<Wanted, Value>): FreshCache<Wanted, Value> {
  const entries = size === 0 ? undefined : new LRUCache<string, Entry<Value>>({ max: size });

  async function readAndKeep(wanted: Wanted[]): Promise<ReadonlyMap<string, Value>> {
    const position = changes.position();
    const began = clock();
    const found = await read(wanted);
    for (const one of wanted) {
      const value = found.get(nameOf(one));
      if (value === undefined) continue;
      const entry = { value, position, keptUntil: began + lifetimeOf(value), subjects: subjectsOf(value) };
      entries?.set(keyOf(one), entry);
    }
    return found;
  }

  return {
    get(key) {
      const entry = entries?.get(key);
      if (entry === undefined) return undefined;
      if (clock() < entry.keptUntil && changes.isCurrent(entry.position, entry.subjects)) return entry.value;
      return undefined;
    },
    load: batchedReads(readAndKeep, nameOf, width),
  };
}
