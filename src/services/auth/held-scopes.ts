import type { Changes } from '../../db/changes.ts';
import { createFreshCache } from '../../db/fresh-cache.ts';
import type { scopeStore } from './scopes.store.ts';

/** A user, in the organization that is active, where one is. */
export interface Holder {
  readonly tenant: string;
  readonly app: string;
  readonly user: string;
  readonly org: string | null;
}

/** What a user may do now. */
export type HeldScopes = (holder: Holder) => readonly string[] | Promise<readonly string[]>;

export interface HeldScopesDeps {
  readonly store: Pick<ReturnType<typeof scopeStore>, 'ofUsers'>;
  readonly changes: Pick<Changes, 'position' | 'isCurrent'>;
  /** How many users are kept at most. */
  readonly size: number;
}

interface Kept {
  readonly scopes: readonly string[];
  readonly holder: Holder;
}

const nameOf = ({ tenant, user, org }: Holder) => `${tenant}/${user}/${org ?? ''}`;

/** Remembers what users may do until something of it is taken away. */
export function createHeldScopes({ store, changes, size }: HeldScopesDeps): HeldScopes {
  const cache = createFreshCache<Holder, Kept>({
    size,
    changes,
    width: 2,
    async read(holders) {
      const found = await store.ofUsers(holders);
      return new Map(holders.map((holder, at) => [nameOf(holder), { holder, scopes: found[at]! }]));
    },
    keyOf: nameOf,
    subjectsOf: ({ holder: { app, user }, scopes }) => [
      { kind: 'user', id: user },
      ...scopes.map((scope) => ({ kind: 'scope', id: `${app} ${scope}` })),
    ],
  });
  return (holder) =>
    cache.get(nameOf(holder))?.scopes ?? cache.load(holder).then((found) => found?.scopes ?? []);
}
