import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

/** Encrypts data that must be readable again, such as TOTP secrets and private keys, before it reaches the database. */
export interface Sealer {
  /** Returns an AES-256-GCM envelope. Each purpose and tenant has its own key, so an envelope opens only there. */
  seal(purpose: string, tenant: string, plain: Uint8Array | string): Buffer;
  /** Returns the sealed data, also from the previous master key. Throws when the envelope was changed or belongs elsewhere. */
  open(purpose: string, tenant: string, box: Uint8Array): Buffer;
  /** HMAC-SHA-256 with the key of the purpose and tenant, for short codes that a plain hash would not hide. */
  mac(purpose: string, tenant: string, text: string): Buffer;
  /** Whether `mac` is the MAC of the text, also under the previous master key. The timing reveals nothing about the right MAC. */
  verifies(purpose: string, tenant: string, text: string, mac: Uint8Array): boolean;
  /** Identifies the master key without revealing anything about it. */
  readonly fingerprint: Buffer;
  /** Identifies the previous master key, if there is one. */
  readonly previousFingerprint: Buffer | undefined;
  /** The id of the previous master key, which is in bytes 1 to 4 of the envelopes that it sealed. */
  readonly previousId: Buffer | undefined;
}

/** Layout of an envelope in bytes: version (1), key id (4), nonce (12), tag (16), ciphertext. */
const version = 1;
const headLength = 1 + 4 + 12 + 16;

/** Creates a sealer: `master` seals; both `master` and `previous` open and verify. Both are 32 bytes. */
export function createSealer(master: Uint8Array, previous?: Uint8Array): Sealer {
  const keys = [master, ...(previous ? [previous] : [])].map(keyRing);
  const macOf = (ring: KeyRing, purpose: string, tenant: string, text: string) =>
    createHmac('sha256', ring.key(purpose, tenant)).update(text).digest();
  return {
    seal(purpose, tenant, plain) {
      const ring = keys[0]!;
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', ring.key(purpose, tenant), nonce);
      const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([Buffer.from([version]), ring.id, nonce, cipher.getAuthTag(), sealed]);
    },
    open(purpose, tenant, box) {
      const bytes = Buffer.from(box);
      const ring = keys.find(({ id }) => id.equals(bytes.subarray(1, 5)));
      if (bytes[0] !== version || bytes.length < headLength || !ring)
        throw new Error(`a sealed value of ${purpose} was sealed with another master key`);
      const decipher = createDecipheriv('aes-256-gcm', ring.key(purpose, tenant), bytes.subarray(5, 17));
      decipher.setAuthTag(bytes.subarray(17, headLength));
      return Buffer.concat([decipher.update(bytes.subarray(headLength)), decipher.final()]);
    },
    mac: (purpose, tenant, text) => macOf(keys[0]!, purpose, tenant, text),
    verifies: (purpose, tenant, text, mac) =>
      keys.map((ring) => isSame(macOf(ring, purpose, tenant, text), mac)).includes(true),
    fingerprint: keys[0]!.fingerprint,
    previousFingerprint: keys[1]?.fingerprint,
    previousId: keys[1]?.id,
  };
}

const isSame = (right: Uint8Array, given: Uint8Array): boolean =>
  right.byteLength === given.byteLength && timingSafeEqual(right, given);

type KeyRing = ReturnType<typeof keyRing>;

/** The keys that are derived from one master key. */
function keyRing(master: Uint8Array) {
  if (master.length !== 32) throw new TypeError('a master key has 32 bytes');
  const derive = (info: string, length: number) => Buffer.from(hkdfSync('sha256', master, '', info, length));
  // Node.js takes several times as long with the bytes of a key.
  const known = new Map<string, KeyObject>();
  return {
    id: derive('plinth/key-id', 4),
    fingerprint: createHmac('sha256', derive('plinth/fingerprint', 32)).update('plinth master key').digest(),
    key(purpose: string, tenant: string): KeyObject {
      const info = `plinth/seal\0${purpose}\0${tenant}`;
      const found = known.get(info) ?? createSecretKey(derive(info, 32));
      // There can be many tenants, and deriving a key is cheap, so the cache is bounded.
      if (known.size < 10_000) known.set(info, found);
      return found;
    },
  };
}
