import type { Changes } from '../../../db/changes.ts';
import { createFreshCache } from '../../../db/fresh-cache.ts';
import type { scopeStore } from '../directory/scopes.store.ts';

/** A user. */
export interface Holder {
  readonly tenant: string;
  readonly app: string;
  readonly user: string;
}

/** Returns the user's current app-wide scopes: a client acts for nobody in an organization. */
export type HeldScopes = (holder: Holder) => readonly string[] | Promise<readonly string[]>;

export interface HeldScopesDeps {
  readonly store: Pick<ReturnType<typeof scopeStore>, 'ofUsers'>;
  readonly changes: Pick<Changes, 'position' | 'isCurrent'>;
  /** Maximum number of cached users. */
  readonly size: number;
}

interface Cached {
  readonly scopes: readonly string[];
  readonly holder: Holder;
}

const nameOf = ({ tenant, user }: Holder) => `${tenant}/${user}`;

/** Caches the scopes of users until any of them is revoked. */
export function createHeldScopes({ store, changes, size }: HeldScopesDeps): HeldScopes {
  const cache = createFreshCache<Holder, Cached>({
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
