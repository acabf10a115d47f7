import type { User } from '../../../../generated/auth/types.ts';
import type { Changes } from '../../../db/changes.ts';
import { createFreshCache } from '../../../db/fresh-cache.ts';
import type { Database } from '../../../db/index.ts';
import { principalStore, type WantedUser } from './principals.store.ts';

/** Returns the account of a signed-in user, or undefined when there is no such user. */
export type KnownUsers = (wanted: WantedUser) => User | Promise<User | undefined>;

export interface KnownUsersDeps {
  readonly db: Pick<Database, 'sql'>;
  readonly changes: Pick<Changes, 'position' | 'isCurrent'>;
  /** Maximum number of cached accounts. */
  readonly size: number;
}

const keyOf = ({ tenant, app, id }: WantedUser) => `${tenant}/${app}/${id}`;

/**
 * Caches accounts until they change. The expiry of a ban is no change, so this cache serves only signed-in users, none of whom is
 * banned.
 */
export function createKnownUsers({ db, changes, size }: KnownUsersDeps): KnownUsers {
  const store = principalStore(db.sql);
  const cache = createFreshCache<WantedUser, User>({
    size,
    changes,
    width: 2,
    async read(wanted) {
      const users = new Map((await store.users(wanted)).map((user) => [user.id, user]));
      return new Map(
        wanted.flatMap((one) => {
          const user = users.get(one.id);
          return user?.app_id === one.app ? [[keyOf(one), user] as const] : [];
        }),
      );
    },
    keyOf,
    subjectsOf: ({ id }) => [{ kind: 'user', id }],
  });
  return (wanted) => cache.get(keyOf(wanted)) ?? cache.load(wanted);
}
