import type { Changes } from '../../../db/changes.ts';
import { createFreshCache, type FreshCache } from '../../../db/fresh-cache.ts';
import type { KnownKey } from './known-key.ts';
import type { Wanted } from './lookup.store.ts';

/** The keys behind hashes, as validations answer from them. */
export type KeyCache = FreshCache<Wanted, KnownKey>;

export interface KeyCacheOptions {
  /** How many keys are kept; 0 keeps none. */
  readonly size: number;
  readonly changes: Pick<Changes, 'position' | 'isCurrent'>;
  /** Finds all of these secrets, by hash. */
  readonly read: (wanted: Wanted[]) => Promise<ReadonlyMap<string, KnownKey>>;
  /** Milliseconds of a clock that never jumps. */
  readonly clock?: () => number;
}

/** Keeps what validations answer from until something that it depends on changes. */
export const createKeyCache = ({ read, ...options }: KeyCacheOptions): KeyCache =>
  createFreshCache<Wanted, KnownKey>({
    ...options,
    async read(wanted) {
      const found = [...(await read(wanted))];
      return new Map(found.map(([hash, known]) => [nameOf({ tenant: known.tenant, hash }), known]));
    },
    keyOf: ({ hash }) => hash,
    nameOf,
    subjectsOf,
  });

/** Two tenants may ask for the same hash at once; each gets only what is its own. */
const nameOf = ({ tenant, hash }: Wanted) => `${tenant}/${hash}`;

function subjectsOf({ id, tenant, policy }: KnownKey) {
  const subjects = [
    { kind: 'key', id },
    { kind: 'tenant', id: tenant },
  ];
  return policy === null ? subjects : [...subjects, { kind: 'policy', id: policy.id }];
}
