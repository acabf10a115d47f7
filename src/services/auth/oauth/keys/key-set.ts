import type { JWK } from 'jose';
import { createFreshCache } from '../../../../db/fresh-cache.ts';
import type { Sealer } from '../../../../lib/seal.ts';
import { SettingError } from '../../../../lib/settings.ts';
import type { Deps } from '../../directory/deps.ts';
import { keyPurpose, keySetSubject, turnKeys, type RotationDeps } from './signing-key-rotation.ts';
import type { KeySet, SigningKeys } from './signing-keys.ts';
import { signingKeyStore, type StoredKey } from './signing-keys.store.ts';

/** Caches the database's key set until a process changes it. */
export function createSigningKeys(deps: RotationDeps & Pick<Deps, 'changes'>): SigningKeys {
  const { db, changes, sealer } = deps;
  let latest: KeySet | undefined;

  async function read(): Promise<ReadonlyMap<string, KeySet>> {
    const keys = await signingKeyStore(db.sql).list();
    if (keys.length === 0) return new Map();
    const set = keySetOf(keys, sealer, (latest?.version ?? 0) + 1);
    // The set keeps its identity while the keys are unchanged, so that nothing built from it is rebuilt needlessly.
    if (!latest || !isSame(latest, set)) latest = set;
    return new Map([[keySetSubject.id, latest]]);
  }

  const cache = createFreshCache<string, KeySet>({
    size: 1,
    changes,
    read,
    keyOf: (id) => id,
    subjectsOf: () => [keySetSubject],
  });

  async function load(): Promise<KeySet> {
    const found = await cache.load(keySetSubject.id);
    if (found) return found;
    await turnKeys(deps);
    return load();
  }

  return {
    current: () => cache.get(keySetSubject.id) ?? load(),
    latest: load,
    known: () => latest,
    async check() {
      await read();
    },
  };
}

/** @throws SettingError if the private keys cannot be read */
function keySetOf(keys: readonly StoredKey[], sealer: Sealer, version: number): KeySet {
  const ordered = (['active', 'next', 'retired'] as const).flatMap((wanted) =>
    keys.filter(({ state }) => state === wanted),
  );
  return {
    version,
    published: ordered.map(({ public_jwk }) => public_jwk),
    signing: ordered.map(({ private_box }) => opened(private_box, sealer)),
  };
}

function opened(box: Buffer, sealer: Sealer): JWK {
  try {
    return JSON.parse(sealer.open(...keyPurpose, box).toString()) as JWK;
  } catch (cause) {
    throw new SettingError(
      'PLINTH_MASTER_KEY: the signing keys in the database were sealed with another one; where it was replaced, ' +
        'PLINTH_MASTER_KEY_PREVIOUS names the one before',
      { cause },
    );
  }
}

const isSame = (one: KeySet, other: KeySet) =>
  one.published.map(({ kid }) => kid).join() === other.published.map(({ kid }) => kid).join();
