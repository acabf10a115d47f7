import type { JWK } from 'jose';
import type { SigningKeys as Handlers } from '../../../../../generated/auth/server.ts';
import type { SigningKey } from '../../../../../generated/auth/types.ts';
import type { Context } from '../../../../http/context.ts';
import type { Deps } from '../../directory/deps.ts';
import { turnKeys } from './signing-key-rotation.ts';
import { signingKeyStore, type StoredKey } from './signing-keys.store.ts';

/** One state of the provider's keys. */
export interface KeySet {
  /** Grows with every change of the keys; code that derives data from a set compares it to detect changes. */
  readonly version: number;
  /** The public key set: current, future and recently retired keys, without private parts. */
  readonly published: readonly JWK[];
  /** All of them with their private parts; the first of each algorithm is the signing one. */
  readonly signing: readonly JWK[];
}

/** The keys of the provider: ES256 for access tokens, RS256 for id tokens, created when there are none. */
export interface SigningKeys {
  /** The cached set if known; it includes any rotation that a process confirmed more than 1.5 seconds ago. */
  current(): KeySet | Promise<KeySet>;
  /** The set that was read last, however long ago; undefined before the first read. */
  known(): KeySet | undefined;
  /** The set from the database, for a key that is not in the cached set. */
  latest(): Promise<KeySet>;
  /** Checks that the existing keys can be read. @throws SettingError if the master key is another one */
  check(): Promise<void>;
}

/** SigningKeys: the keys with which tokens are signed. */
export const signingKeys = (deps: Pick<Deps, 'db' | 'write' | 'sealer'>) =>
  ({
    list: async () => listed(deps),

    async rotate(_, { tenant, app, actor }) {
      await turnKeys(deps, { tenant, app, actor }, true);
      return listed(deps);
    },
  }) satisfies Handlers<Context>;

const listed = async ({ db }: Pick<Deps, 'db'>) => ({
  keys: (await signingKeyStore(db.sql).list()).map(shown),
});

const shown = ({ kid, alg, state, created_at, not_after }: StoredKey): SigningKey => ({
  kid,
  alg,
  state,
  created_at,
  not_after,
});
