import { encryptedPart, keyCommitment, partKey, type PartPlace, type StoredPart } from './parts.ts';
import type { MacKey } from './mac-key.ts';

/** A part as version 1 of the record stored it. */
export function firstPart(json: Uint8Array, place: PartPlace, personKey: MacKey | undefined): StoredPart {
  if (personKey === undefined) return { bytes: Buffer.concat([Buffer.of(0), json]), commitment: null };
  const key = partKey(personKey, place);
  return { bytes: encryptedPart(json, place, key), commitment: keyCommitment(key) };
}
