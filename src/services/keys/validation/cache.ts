import type { Changes } from '../../../db/changes.ts';
import { createFreshCache, type FreshCache } from '../../../db/fresh-cache.ts';
import type { KnownKey } from './known-key.ts';
import type { Wanted } from './lookup.store.ts';

/** The keys behind hashes, from which validations are answered. */
export type KeyCache = FreshCache<Wanted, KnownKey>;

export interface KeyCacheOptions {
  /** Maximum number of keys kept; 0 keeps none. */
  readonly size: number;
  readonly changes: Pick<Changes, 'position' | 'isCurrent'>;
  /** Finds all of these secrets by hash. */
  readonly read: (wanted: Wanted[]) => Promise<ReadonlyMap<string, KnownKey>>;
  /** Returns milliseconds of a monotonic clock. */
  readonly clock?: () => number;
}

/** Caches known keys until something that they depend on changes. */
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

/** Two tenants may ask for the same hash at once. Each gets only its own key. */
const nameOf = ({ tenant, hash }: Wanted) => `${tenant}/${hash}`;

function subjectsOf({ id, tenant, policy }: KnownKey) {
  const subjects = [
    { kind: 'key', id },
    { kind: 'tenant', id: tenant },
  ];
  return policy === null ? subjects : [...subjects, { kind: 'policy', id: policy.id }];
}
