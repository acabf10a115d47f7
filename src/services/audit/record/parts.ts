import { createCipheriv, createDecipheriv, createSecretKey } from 'node:crypto';
import { canonicalJson } from './canonical.ts';
import { type MacKey, sha256 } from './mac-key.ts';

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

/** A part as it is stored, and the commitment to the key that encrypted it; null when nobody owns it. */
export interface StoredPart {
  readonly bytes: Buffer;
  readonly commitment: Buffer | null;
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
 * @param personKey of 32 bytes; undefined when nobody owns the part
 */
export function storedPart(json: Uint8Array, place: PartPlace, personKey: MacKey | undefined): StoredPart {
  if (personKey === undefined) return { bytes: Buffer.concat([plainMark, json]), commitment: null };
  const key = partKey(personKey, place);
  const cipher = createCipheriv('aes-256-gcm', createSecretKey(key), nonce).setAAD(boundTo(place));
  const bytes = Buffer.concat([encryptedMark, cipher.update(json), cipher.final(), cipher.getAuthTag()]);
  return { bytes, commitment: commitmentTo(key) };
}

/** Whether a person owns the part, so that reading it needs the person's key. */
export const isEncrypted = (bytes: Uint8Array): boolean => bytes[0] === encrypted;

/**
 * Reads a stored part. Undefined when it is encrypted and this is not the key: the person was erased.
 * @throws Error when the bytes were changed
 */
export function openPart<Part extends ActorPart | ContentPart>(
  { bytes, commitment }: StoredPart,
  place: PartPlace,
  personKey: MacKey | undefined,
): Part | undefined {
  if (!isEncrypted(bytes)) return JSON.parse(bytes.toString('utf8', 1)) as Part;
  if (personKey === undefined || commitment === null) return undefined;
  const key = partKey(personKey, place);
  // AES-GCM alone would accept the same bytes under a second key that somebody looked for.
  if (!commitmentTo(key).equals(commitment)) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', createSecretKey(key), nonce).setAAD(boundTo(place));
  decipher.setAuthTag(bytes.subarray(-tagLength));
  const json = Buffer.concat([decipher.update(bytes.subarray(1, -tagLength)), decipher.final()]);
  return JSON.parse(json.toString('utf8')) as Part;
}

/** HKDF-Expand (RFC 5869) of one block: the key of one part of one event. */
const partKey = (personKey: MacKey, { part, eventId, salt }: PartPlace): Buffer =>
  personKey.of(`plinth.audit.${part}.v1\0${eventId}\0`, salt, firstBlock);

const commitmentPrefix = Buffer.from('plinth.audit.key.v1\0');
const commitmentTo = (key: Uint8Array): Buffer => sha256(Buffer.concat([commitmentPrefix, key]));

const boundTo = ({ part, eventId }: PartPlace): Buffer => Buffer.from(`${eventId}:${part}`);
