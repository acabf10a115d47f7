import { createCipheriv, createDecipheriv, createSecretKey } from 'node:crypto';
import { canonicalJson } from './canonical.ts';
import { type MacKey, sha256 } from './mac-key.ts';
import type { PersonKey } from './person-key.ts';

/** What an event says about the one who acted. */
export interface ActorPart {
  readonly ip: string | null;
  readonly user_agent: string | null;
  readonly user_id: string | null;
}

/** What an event says about what was affected. */
export interface ContentPart {
  readonly metadata: object;
  readonly reason: string | null;
  readonly resource_id: string | null;
  readonly subject_id: string | null;
}

export type PartName = 'actor' | 'content';

/** A part as it is stored, and the commitment to what it hangs on; null when nobody owns it and no resource is bound to it. */
export interface StoredPart {
  readonly bytes: Buffer;
  readonly commitment: Buffer | null;
}

/** How a commitment is made. */
export interface Binding {
  /** The version of the record. */
  readonly v: number;
  /** Of the resource by which the event is found, in content parts only. */
  readonly proof: Buffer | null;
}

/** Where a part belongs. */
export interface PartPlace {
  readonly part: PartName;
  readonly eventId: string;
  /** The salt of the record: 16 random bytes. */
  readonly salt: Uint8Array;
}

const encrypted = 1;
const [plainMark, encryptedMark] = [Buffer.of(0), Buffer.of(encrypted)];
const firstBlock = Buffer.of(1);
const tagLength = 16;
/** A key encrypts one part only, so that its nonce need not differ. */
const nonce = Buffer.alloc(12);

/** The canonical JSON of a part, in UTF-8. Its members are known and in their order, as those of a record. */
export const partJson = (value: ActorPart | ContentPart): Buffer =>
  Buffer.from(
    'metadata' in value
      ? `{"metadata":${canonicalJson(value.metadata)},"reason":${textOrNull(value.reason)},` +
          `"resource_id":${textOrNull(value.resource_id)},"subject_id":${textOrNull(value.subject_id)}}`
      : `{"ip":${textOrNull(value.ip)},"user_agent":${textOrNull(value.user_agent)},"user_id":${textOrNull(value.user_id)}}`,
  );

function textOrNull(text: string | null): string {
  if (text === null) return 'null';
  if (!text.isWellFormed()) throw new TypeError('a lone surrogate has no canonical JSON');
  return JSON.stringify(text);
}

/**
 * The stored bytes of a part: a byte 0 and its canonical JSON when nobody owns it, else a byte 1 and the JSON encrypted with a key that
 * only its owner's key gives.
 * @param json its canonical JSON (`partJson`)
 * @param person undefined when nobody owns the part
 * @param proof of the resource by which the event is found (`resourceProof`)
 */
export function storedPart(
  json: Uint8Array,
  place: PartPlace,
  person: PersonKey | undefined,
  proof: Buffer | null,
): StoredPart {
  const commitment = commitmentTo(person?.owner, place, proof);
  if (person === undefined) return { bytes: Buffer.concat([plainMark, json]), commitment };
  return { bytes: encryptedPart(json, place, partKey(person.key, place)), commitment };
}

/** A part encrypted with its own key. */
export function encryptedPart(json: Uint8Array, place: PartPlace, key: Uint8Array): Buffer {
  const cipher = createCipheriv('aes-256-gcm', createSecretKey(key), nonce).setAAD(boundTo(place));
  return Buffer.concat([encryptedMark, cipher.update(json), cipher.final(), cipher.getAuthTag()]);
}

/** Whether a person owns the part, so that reading it needs the person's key. */
export const isEncrypted = (bytes: Uint8Array): boolean => bytes[0] === encrypted;

/** Whether a part was encrypted for this person, and the event is found by the person's reference. */
export function isOf(
  person: PersonKey,
  { commitment }: Pick<StoredPart, 'commitment'>,
  place: PartPlace,
  { v, proof }: Binding,
): boolean {
  if (commitment === null) return false;
  // AES-GCM alone would accept the same bytes under a second key that somebody looked for.
  const right =
    v === 1 ? keyCommitment(partKey(person.key, place)) : commitmentTo(person.owner, place, proof);
  return right?.equals(commitment) === true;
}

/**
 * Reads a stored part. Undefined when it is encrypted and not for this person.
 * @throws Error when the bytes were changed
 */
export function openPart<Part extends ActorPart | ContentPart>(
  part: StoredPart,
  place: PartPlace,
  person: PersonKey | undefined,
  binding: Binding,
): Part | undefined {
  const { bytes } = part;
  if (!isEncrypted(bytes)) return JSON.parse(bytes.toString('utf8', 1)) as Part;
  if (person === undefined || !isOf(person, part, place, binding)) return undefined;
  const key = partKey(person.key, place);
  const decipher = createDecipheriv('aes-256-gcm', createSecretKey(key), nonce).setAAD(boundTo(place));
  decipher.setAuthTag(bytes.subarray(-tagLength));
  const json = Buffer.concat([decipher.update(bytes.subarray(1, -tagLength)), decipher.final()]);
  return JSON.parse(json.toString('utf8')) as Part;
}

/** HKDF-Expand (RFC 5869) of one block: the key of one part of one event. */
export const partKey = (personKey: MacKey, { part, eventId, salt }: PartPlace): Buffer =>
  personKey.of(`plinth.audit.${part}.v1\0${eventId}\0`, salt, firstBlock);

const nobody = Buffer.alloc(32);
const commitmentPrefix = 'plinth.audit.key.v2\0';

/**
 * Fixes to whom a part belongs, and by which resource its event is found; null when there is nothing to fix.
 * @param owner of the person (`PersonKey`); undefined for nobody
 */
export const commitmentTo = (
  owner: Uint8Array | undefined,
  { part, salt }: Pick<PartPlace, 'part' | 'salt'>,
  proof: Uint8Array | null,
): Buffer | null =>
  owner === undefined && proof === null
    ? null
    : sha256(
        Buffer.concat([
          Buffer.from(`${commitmentPrefix}${part}\0`),
          salt,
          owner ?? nobody,
          ...(proof ? [proof] : []),
        ]),
      );

const proofPrefix = Buffer.from('plinth.audit.resource.v2\0');

/** Fixes the reference of a resource. Once the person is erased whom the content belongs to, nobody can guess the resource from it. */
export const resourceProof = (person: PersonKey | undefined, salt: Uint8Array, ref: Uint8Array): Buffer =>
  sha256(Buffer.concat([proofPrefix, salt, person?.resources ?? nobody, ref]));

const keyPrefix = Buffer.from('plinth.audit.key.v1\0');

/** The commitment of version 1: to the key of the part alone. */
export const keyCommitment = (key: Uint8Array): Buffer => sha256(Buffer.concat([keyPrefix, key]));

const boundTo = ({ part, eventId }: PartPlace): Buffer => Buffer.from(`${eventId}:${part}`);
