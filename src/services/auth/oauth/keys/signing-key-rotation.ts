import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import type { SigningAlgorithm } from '../../../../../generated/auth/types.ts';
import type { Sweep } from '../../../../db/sweeps.ts';
import { RateLimited, Unavailable } from '../../../../lib/errors.ts';
import type { Sealer } from '../../../../lib/seal.ts';
import type { Deps } from '../../directory/deps.ts';
import { type AgedKey, type KeyPlan, plansOf, untilRoom } from './signing-key-plan.ts';
import { type NewKey, signingKeyStore } from './signing-keys.store.ts';
import type { Author, Write } from '../../directory/writes.ts';

export type RotationDeps = Pick<Deps, 'db' | 'write' | 'sealer'>;

/** The purpose under which private keys are sealed. They belong to no tenant. */
export const keyPurpose = ['auth/jwks/v1', ''] as const;

/** The change subject that every process with a cached key set watches. */
export const keySetSubject = { kind: 'signing_key', id: 'all' } as const;

/** The author of scheduled changes. */
const system: Author = { tenant: 'default', app: 'default', actor: 'system' };

const hour = 3_600_000;

/** Performs due rotations. */
export const keyRotation = (deps: RotationDeps): Sweep => ({
  name: 'auth.signing-keys',
  everyMs: hour,
  batch: 1,
  steps: [
    async () => {
      await turnKeys(deps);
      return 0;
    },
  ],
});

/**
 * Creates missing keys and advances those that are due, or all of them if `forced`.
 * @throws RateLimited if that would remove keys that still verify tokens
 */
export async function turnKeys(
  { db, write, sealer }: RotationDeps,
  author: Author = system,
  forced = false,
): Promise<void> {
  const known = await signingKeyStore(db.sql).list();
  if (forced) checkRoom(known);
  const plans = plansOf(known, forced);
  if (plans.length === 0) return;
  // Keys are generated before the transaction begins, because it could block other writes meanwhile.
  const made = await makeKeys(plans, sealer);
  await write(author, async (tx) => {
    const store = signingKeyStore(tx.sql);
    await store.lock();
    const keys = await store.list();
    if (forced) checkRoom(keys);
    for (const plan of plansOf(keys, forced)) await carryOut(tx, plan, made);
  });
}

function checkRoom(keys: readonly AgedKey[]): void {
  const wait = untilRoom(keys);
  if (wait > 0)
    throw RateLimited('the key set is full of keys whose tokens are still valid: see not_after', {
      retryAfter: Math.ceil(wait / 1_000),
    });
}

async function carryOut(tx: Write, { alg, retire, activate, make, remove }: KeyPlan, made: NewKey[]) {
  const store = signingKeyStore(tx.sql);
  for (const kid of remove) await store.remove(kid);
  if (retire !== undefined) await store.retire(retire);
  if (activate !== undefined) await store.activate(activate);
  const own = made.filter((key) => key.alg === alg);
  for (const state of make) {
    const key = own.shift();
    if (!key) throw Unavailable('the signing keys were changed meanwhile');
    await store.insert(key, state);
  }
  if (retire !== undefined) tx.emit('auth.signing_key.rotated', retire, { alg });
  tx.changed(keySetSubject.kind, keySetSubject.id);
}

const makeKeys = (plans: readonly KeyPlan[], sealer: Sealer): Promise<NewKey[]> =>
  Promise.all(plans.flatMap(({ alg, make }) => make.map(() => makeKey(alg, sealer))));

async function makeKey(alg: SigningAlgorithm, sealer: Sealer): Promise<NewKey> {
  const pair = await generateKeyPair(alg, { extractable: true, modulusLength: 2_048 });
  const bare = await exportJWK(pair.publicKey);
  const named = { kid: await calculateJwkThumbprint(bare), alg, use: 'sig' };
  const secret = { ...(await exportJWK(pair.privateKey)), ...named };
  return {
    kid: named.kid,
    alg,
    public_jwk: { ...bare, ...named },
    private_box: sealer.seal(...keyPurpose, JSON.stringify(secret)),
  };
}
