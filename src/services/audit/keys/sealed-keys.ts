import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { Sweep } from '../../../db/sweeps.ts';
import { DomainError } from '../../../lib/errors.ts';
import type { Sealer } from '../../../lib/seal.ts';
import { MacKey } from '../record/mac-key.ts';
import { inSlices } from '../../../lib/slices.ts';

/** A key as the master key sealed it, with the tenant for which it opens. */
export interface SealedKey {
  readonly tenant_id: string;
  readonly sealed: Buffer;
}

/** The keys of persons, and those that hide persons and resources in the columns by which events are found. */
export type KeyPurpose = 'audit/person/v1' | 'audit/index/v1';

/** A key that the master keys of this server do not open. It concerns one person or one stream, and trying again does not help. */
export class UnreadableKey extends DomainError {
  constructor(cause: unknown) {
    super('internal', 'a key was sealed with a master key that this server does not have', { cause });
  }
}

/** A new key of 32 random bytes, sealed. */
export const newSealedKey = (sealer: Sealer, purpose: KeyPurpose, tenant: string): Buffer =>
  sealer.seal(purpose, tenant, randomBytes(32));

/** @throws UnreadableKey */
export const openedKey = (sealer: Sealer, purpose: KeyPurpose, key: SealedKey): MacKey =>
  new MacKey(bytesOf(sealer, purpose, key));

function bytesOf(sealer: Sealer, purpose: KeyPurpose, { tenant_id, sealed }: SealedKey): Buffer {
  try {
    return sealer.open(purpose, tenant_id, sealed);
  } catch (error) {
    throw new UnreadableKey(error);
  }
}

/** Where sealed keys of a purpose are stored. */
export interface SealedKeys<Key extends SealedKey> {
  readonly purpose: KeyPurpose;
  /** Some of those that the master key with this id sealed, in an order of their own, after one of them. */
  sealedBy(masterKeyId: Buffer, after: Key | undefined, most: number): Promise<Key[]>;
  /** Replaces sealed keys, except those that have changed or were destroyed meanwhile. */
  replace(keys: readonly (Key & { readonly anew: Buffer })[]): Promise<void>;
}

export interface SealDeps {
  readonly sealer: Sealer;
  readonly log: Logger;
}

/** Seals what the previous master key sealed with the current one, so that the previous one can be forgotten. */
export function sealSweeps<Key extends SealedKey>(
  name: string,
  { sealer, log }: SealDeps,
  keys: SealedKeys<Key>,
): Sweep[] {
  const { previousId } = sealer;
  const { purpose } = keys;
  if (previousId === undefined) return [];

  function sealedAnew(key: Key): (Key & { readonly anew: Buffer })[] {
    try {
      const bytes = bytesOf(sealer, purpose, key);
      return [{ ...key, anew: sealer.seal(purpose, key.tenant_id, bytes) }];
    } catch (error) {
      // Somebody changed it; the others must not wait for it.
      log.error({ err: error, tenant: key.tenant_id }, `a key of ${purpose} cannot be sealed anew`);
      return [];
    }
  }

  // Keys that were sealed anew are not looked at again in the same run.
  let last: Key | undefined;
  const step = async (most: number) => {
    const found = await keys.sealedBy(previousId, last, most);
    await keys.replace((await inSlices(found, sealedAnew)).flat());
    last = found.length < most ? undefined : found.at(-1);
    return found.length;
  };
  return [{ name, everyMs: 600_000, batch: 500, steps: [step] }];
}
