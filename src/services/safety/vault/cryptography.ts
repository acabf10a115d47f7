import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

/** The keys of one tenant's vault. As key objects, because Node.js takes several times as long with bytes. */
export interface VaultKeys {
  /** Names values in texts that nobody restores. */
  readonly hash: KeyObject;
  /** Names values that can be restored. */
  readonly token: KeyObject;
  /** Encrypts the originals. */
  readonly vault: KeyObject;
}

/** The number of characters of a token, and of the longer one that is used if another value has the short one. */
export const tokenLength = 10;
export const longTokenLength = 16;

const hashDigits = 12;
const version = 1;
const nonceLength = 12;
const tagLength = 16;
const digits = '0123456789abcdefghjkmnpqrstvwxyz';

export const newDataKey = (): Buffer => randomBytes(32);

export function vaultKeysOf(dataKey: Uint8Array): VaultKeys {
  const derive = (purpose: string) =>
    createSecretKey(Buffer.from(hkdfSync('sha256', dataKey, '', `plinth/safety/${purpose}/v1`, 32)));
  return { hash: derive('hash'), token: derive('token'), vault: derive('vault') };
}

/** @param name the label in lower case */
export const hashOf = ({ hash }: VaultKeys, name: string, normalised: string): string =>
  mac(hash, name, normalised).toString('hex').slice(0, hashDigits);

/** The digest of which a token is the beginning. Values that differ in one character have different tokens. */
export const digestOf = ({ token }: VaultKeys, name: string, raw: string): Buffer => mac(token, name, raw);

export const tokenOf = (digest: Uint8Array, length: number): string => base32(digest).slice(0, length);

const mac = (key: KeyObject, name: string, value: string) =>
  createHmac('sha256', key).update(name).update('\0').update(value, 'utf8').digest();

/** Crockford's base32 in lower case, without padding; bits that fill no character are left out. */
function base32(bytes: Uint8Array): string {
  let text = '';
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += digits[(held >> (bits - 5)) & 31]!;
    held &= (1 << bits) - 1;
  }
  return text;
}

/** The place of an original, to which its encrypted form is bound. */
export interface Place {
  readonly tenant: string;
  /** The label and the token: `EMAIL_pwdhqk8ttd`. */
  readonly token: string;
  readonly name: string;
}

/** Encrypts an original: version, nonce, ciphertext, tag. */
export function seal(
  { vault }: VaultKeys,
  place: Place,
  original: string,
  nonce = randomBytes(nonceLength),
): Buffer {
  const cipher = createCipheriv('aes-256-gcm', vault, nonce).setAAD(boundTo(place));
  const sealed = Buffer.concat([cipher.update(original, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.from([version]), nonce, sealed, cipher.getAuthTag()]);
}

/** @throws when it was changed, or sealed for another place or by another key */
export function open({ vault }: VaultKeys, place: Place, box: Uint8Array): string {
  const bytes = Buffer.from(box);
  const end = bytes.length - tagLength;
  if (bytes[0] !== version || end < 1 + nonceLength) throw new Error('not a sealed original');
  const decipher = createDecipheriv('aes-256-gcm', vault, bytes.subarray(1, 1 + nonceLength));
  decipher.setAAD(boundTo(place)).setAuthTag(bytes.subarray(end));
  return Buffer.concat([decipher.update(bytes.subarray(1 + nonceLength, end)), decipher.final()]).toString(
    'utf8',
  );
}

const boundTo = ({ tenant, token, name }: Place) => Buffer.from(`${tenant}\0${token}\0${name}`);
