import { LRUCache } from 'lru-cache';
import type { Change, Changes, Position } from '../../../db/changes.ts';
import { batchedReads } from './batched-reads.ts';
import type { KnownKey } from './known-key.ts';
import type { Wanted } from './lookup.store.ts';

export interface KeyCache {
  /** The key behind a hash, from memory. Undefined when it is not known or what is known may be out of date. */
  get(hash: string): KnownKey | undefined;
  /** The same from the database, kept from then on. Undefined when the tenant has no such secret. */
  load(wanted: Wanted): Promise<KnownKey | undefined>;
}

export interface KeyCacheOptions {
  /** How many keys are kept; 0 keeps none. */
  readonly size: number;
  readonly changes: Pick<Changes, 'position' | 'isCurrent'>;
  /** Finds all of these secrets, by hash. */
  readonly read: (wanted: Wanted[]) => Promise<ReadonlyMap<string, KnownKey>>;
  /** Milliseconds of a clock that never jumps. */
  readonly clock?: () => number;
}

interface Entry {
  readonly known: KnownKey;
  readonly position: Position;
  readonly subjects: readonly Change[];
  readonly keptUntil: number;
}

/** Entries are read again after a minute, whatever happened. */
const lifetimeMs = 60_000;

/**
 * Keeps what validations answer from. An entry counts only if nothing it depends on has changed since its position, which
 * is taken before it is read: a revocation that races the read wins. When this process may have missed a change, no
 * entry counts.
 */
export function createKeyCache({
  size,
  changes,
  read,
  clock = () => performance.now(),
}: KeyCacheOptions): KeyCache {
  const entries = size === 0 ? undefined : new LRUCache<string, Entry>({ max: size });

  const load = batchedReads<Wanted, KnownKey>(async (wanted) => {
    const position = changes.position();
    const keptUntil = clock() + lifetimeMs;
    const found = await read(wanted);
    for (const [hash, known] of found) {
      entries?.set(hash, { known, position, keptUntil, subjects: subjectsOf(known) });
    }
    return new Map([...found].map(([hash, known]) => [nameOf({ tenant: known.tenant, hash }), known]));
  }, nameOf);

  return {
    get(hash) {
      const entry = entries?.get(hash);
      if (entry === undefined) return undefined;
      if (clock() < entry.keptUntil && changes.isCurrent(entry.position, entry.subjects)) return entry.known;
      return undefined;
    },
    load,
  };
}

/** Two tenants may ask for the same hash at once; each gets only what is its own. */
const nameOf = ({ tenant, hash }: Wanted) => `${tenant}/${hash}`;

function subjectsOf({ id, tenant, policy }: KnownKey): Change[] {
  const subjects = [
    { kind: 'key', id },
    { kind: 'tenant', id: tenant },
  ];
  return policy === null ? subjects : [...subjects, { kind: 'policy', id: policy.id }];
}
