import type { JWK } from 'jose';

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
}
