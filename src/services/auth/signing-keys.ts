import type { JWK } from 'jose';
import type { SigningKeys as Handlers } from '../../../generated/auth/server.ts';
import type { SigningKey } from '../../../generated/auth/types.ts';
import type { Context } from '../../http/context.ts';
import type { Deps } from './deps.ts';
import { turnKeys } from './signing-key-rotation.ts';
import { signingKeyStore, type StoredKey } from './signing-keys.store.ts';

/** One state of the keys of the provider. */
export interface KeySet {
  /** Grows with every change of the keys; who built something on a set looks here whether it is still the one. */
  readonly version: number;
  /** What the key set shows: the keys that sign, that will, and that did lately, without private parts. */
  readonly published: readonly JWK[];
  /** All of them with their private parts; the first of an algorithm is the one that signs. */
  readonly signing: readonly JWK[];
}

/** The keys of the provider: ES256 for access tokens, RS256 for id tokens, made when there are none. */
export interface SigningKeys {
  /** From memory where it is known; never older than a rotation that any process has answered for more than 1.5 seconds. */
  current(): KeySet | Promise<KeySet>;
  /** From the database, for who meets a key that is not in the set that is remembered. */
  latest(): Promise<KeySet>;
  /** Makes sure that the keys that are there can be read. @throws SettingError where the master key is another one. */
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
