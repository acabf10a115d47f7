import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import type { SigningAlgorithm } from '../../../generated/auth/types.ts';
import { periodic } from '../../db/periodic.ts';
import { Unavailable } from '../../lib/errors.ts';
import type { Sealer } from '../../lib/seal.ts';
import type { Deps } from './deps.ts';
import { type KeyPlan, plansOf } from './signing-key-plan.ts';
import { type NewKey, signingKeyStore } from './signing-keys.store.ts';
import type { Author, Write } from './writes.ts';

export type RotationDeps = Pick<Deps, 'db' | 'write' | 'sealer'>;

/** Under which private keys are sealed. They are of no tenant. */
export const keyPurpose = ['auth/jwks/v1', ''] as const;

/** What every process looks at that keeps the key set. */
export const keySetSubject = { kind: 'signing_key', id: 'all' } as const;

/** Nobody in particular: what the passing of time does. */
const system: Author = { tenant: 'default', app: 'default', actor: 'system' };

const hour = 3_600_000;

/** Does every hour what is due. */
export const startKeyRotation = (deps: RotationDeps & Pick<Deps, 'log'>): { stop(): Promise<void> } =>
  periodic({
    db: deps.db,
    log: deps.log,
    name: 'auth.signing-keys',
    everyMs: hour,
    run: () => turnKeys(deps),
  });

/** Makes the keys that are missing and moves on those whose time has come, or all of them where it is `forced`. */
export async function turnKeys(
  { db, write, sealer }: RotationDeps,
  author: Author = system,
  forced = false,
): Promise<void> {
  const plans = plansOf(await signingKeyStore(db.sql).list(), forced);
  if (plans.length === 0) return;
  // Keys are made before the transaction begins: nothing else would be written meanwhile.
  const made = await makeKeys(plans, sealer);
  await write(author, async (tx) => {
    const store = signingKeyStore(tx.sql);
    await store.lock();
    for (const plan of plansOf(await store.list(), forced)) await carryOut(tx, plan, made);
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
