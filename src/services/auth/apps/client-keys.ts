import { createPublicKey, type KeyObject } from 'node:crypto';
import type { Client, ClientKey } from '../../../../generated/auth/types.ts';
import { Invalid } from '../../../lib/errors.ts';

/** The members that the rules for a client's authentication read. */
export type ClientAuthentication = Pick<
  Client,
  'public' | 'token_endpoint_auth_method' | 'jwks' | 'jwks_uri'
>;

/** `judge` returns the problem with an address. @throws Invalid if a client cannot authenticate this way */
export function checkAuthentication(
  { public: isPublic, token_endpoint_auth_method: method, jwks, jwks_uri }: ClientAuthentication,
  judge: (url: string) => string | undefined,
): void {
  if (isPublic !== (method === 'none'))
    throw Invalid(
      isPublic
        ? 'token_endpoint_auth_method: must be none for a public client'
        : 'token_endpoint_auth_method: none is for public clients',
    );
  if (jwks !== null && jwks_uri !== null) throw Invalid('jwks_uri: cannot be combined with jwks');
  const hasKeys = jwks !== null || jwks_uri !== null;
  if (hasKeys !== (method === 'private_key_jwt'))
    throw Invalid(
      hasKeys
        ? `${jwks === null ? 'jwks_uri' : 'jwks'}: only with private_key_jwt as token_endpoint_auth_method`
        : 'jwks: private_key_jwt needs it, or jwks_uri',
    );
  jwks?.keys.forEach(checkKey);
  checkDistinct(jwks?.keys ?? []);
  const refusal = jwks_uri === null ? undefined : judge(jwks_uri);
  if (refusal !== undefined) throw Invalid(`jwks_uri: ${refusal}`);
}

/** Members of a JWK that only the holder of the key may know. */
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

function checkKey(key: ClientKey, at: number): void {
  const field = `jwks.keys[${at}]`;
  const secret = privateMembers.find((name) => key[name] !== undefined);
  if (secret !== undefined) throw Invalid(`${field}.${secret}: send public keys only`);
  if (key.use !== undefined && key.use !== 'sig') throw Invalid(`${field}.use: must be sig`);
  if (!isOfKnownKind(publicKey(field, key)))
    throw Invalid(
      `${field}: must be RSA of 2048 to 8192 bits with an odd exponent from 3 to 2^32, EC on P-256, or OKP on Ed25519`,
    );
}

function publicKey(field: string, key: ClientKey): KeyObject {
  try {
    return createPublicKey({ key, format: 'jwk' });
  } catch {
    throw Invalid(`${field}: not a public key`);
  }
}

/** Larger keys and unlimited exponents would let a client keep the server busy verifying its signatures. */
function isOfKnownKind({ asymmetricKeyType: type, asymmetricKeyDetails: details = {} }: KeyObject): boolean {
  const { modulusLength = 0, publicExponent = 0n, namedCurve } = details;
  if (type === 'ed25519') return true;
  if (type === 'ec') return namedCurve === 'prime256v1';
  const isSound = publicExponent >= 3n && publicExponent < 1n << 32n && publicExponent % 2n === 1n;
  return type === 'rsa' && isSound && modulusLength >= 2_048 && modulusLength <= 8_192;
}

/** A key is selected by its `kid`, so each needs a distinct one. */
function checkDistinct(keys: readonly ClientKey[]): void {
  const names = keys.map(({ kid }) => kid).filter((kid) => kid !== undefined);
  if (new Set(names).size < names.length) throw Invalid('jwks.keys: each needs a kid of its own');
}
