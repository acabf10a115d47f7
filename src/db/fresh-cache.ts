import { LRUCache } from 'lru-cache';
import { batchedReads } from './batched-reads.ts';
import type { Change, Changes, Position } from './changes.ts';

export interface FreshCache<Wanted, Value> {
  /** Returns the cached value under the key; undefined when there is none or it may be out of date. */
  get(key: string): Value | undefined;
  /** Reads the value from the store and caches it; returns undefined when there is no such value. */
  load(wanted: Wanted): Promise<Value | undefined>;
}

export interface FreshCacheOptions<Wanted, Value> {
  /** The number of values to keep; 0 disables the cache. */
  readonly size: number;
  readonly changes: Pick<Changes, 'position' | 'isCurrent'>;
  /** Reads all wanted values; the map is keyed by `nameOf`. */
  readonly read: (wanted: Wanted[]) => Promise<ReadonlyMap<string, Value>>;
  /** The key under which `get` finds the value. */
  readonly keyOf: (wanted: Wanted) => string;
  /** Identifies equal reads; the key by default. */
  readonly nameOf?: (wanted: Wanted) => string;
  /** The subjects on which the value depends. */
  readonly subjectsOf: (value: Value) => readonly Change[];
  /** The most milliseconds that a value is kept. */
  readonly lifetimeOf?: (value: Value) => number;
  /** The most reads in flight. */
  readonly width?: number;
  /** A monotonic clock, in milliseconds. */
  readonly clock?: () => number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly position: Position;
  readonly subjects: readonly Change[];
  readonly keptUntil: number;
}

/** By default every entry is read again after a minute. */
const minute = () => 60_000;

/**
 * Caches the values from which answers are made. An entry is valid only if nothing it depends on has changed since its position,
 * which is taken before the read, so a revocation that races the read wins. When this process may have missed a change, no entry
 * is valid.
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
