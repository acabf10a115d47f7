import { exportJWK, generateKeyPair } from 'jose';
import { generateKeyPairSync } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import type { ClientKey } from '../../../../generated/auth/types.ts';
import { DomainError } from '../../../lib/errors.ts';
import { checkAuthentication, type ClientAuthentication } from './client-keys.ts';

let key: ClientKey;
let privateKey: ClientKey;
beforeAll(async () => {
  const pair = await generateKeyPair('ES256', { extractable: true });
  key = { ...(await exportJWK(pair.publicKey)), kty: 'EC', kid: 'one' };
  privateKey = { ...(await exportJWK(pair.privateKey)), kty: 'EC' };
});

/** Returns the message of the refusal; undefined when there is none. */
function refusal(change: Partial<ClientAuthentication>): string | undefined {
  const secret = { public: false, token_endpoint_auth_method: 'client_secret_basic' } as const;
  try {
    checkAuthentication({ ...secret, jwks: null, jwks_uri: null, ...change }, (url) =>
      url.startsWith('https:') ? undefined : 'must be an https URL',
    );
    return undefined;
  } catch (error) {
    if (error instanceof DomainError) return error.message;
    throw error;
  }
}

const method = 'private_key_jwt';
const withKeys = (...keys: unknown[]) =>
  refusal({ token_endpoint_auth_method: method, jwks: { keys: keys as ClientKey[] } });

it('goes with what the client is', () => {
  const uri = 'https://reports.example.com/jwks';
  expect(refusal({})).toBeUndefined();
  expect(refusal({ public: true, token_endpoint_auth_method: 'none' })).toBeUndefined();
  expect(withKeys(key)).toBeUndefined();
  expect(refusal({ token_endpoint_auth_method: method, jwks_uri: uri })).toBeUndefined();
  for (const [change, text] of [
    [{ public: true }, 'token_endpoint_auth_method: must be none for a public client'],
    [{ token_endpoint_auth_method: 'none' }, 'token_endpoint_auth_method: none is for public clients'],
    [{ token_endpoint_auth_method: method }, 'jwks: private_key_jwt needs it, or jwks_uri'],
    [
      { token_endpoint_auth_method: method, jwks: { keys: [key] }, jwks_uri: uri },
      'jwks_uri: cannot be combined with jwks',
    ],
    [{ jwks_uri: uri }, 'jwks_uri: only with private_key_jwt as token_endpoint_auth_method'],
    [{ jwks: { keys: [key] } }, 'jwks: only with private_key_jwt as token_endpoint_auth_method'],
    [
      { token_endpoint_auth_method: method, jwks_uri: 'http://169.254.169.254/' },
      'jwks_uri: must be an https URL',
    ],
  ] as const)
    expect(refusal(change as Partial<ClientAuthentication>)).toBe(text);
});

it('takes public keys of a kind that is known and a size that can be verified', () => {
  const rsa = (modulusLength: number, publicExponent = 65_537) =>
    generateKeyPairSync('rsa', { modulusLength, publicExponent }).publicKey.export({ format: 'jwk' });
  const ed25519 = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' });
  expect(withKeys({ ...rsa(2_048), kid: 'rsa' }, { ...ed25519, kid: 'ed' }, key)).toBeUndefined();
  for (const small of [rsa(1_024), p384, { ...rsa(2_048), e: 'AQ' }, { ...rsa(2_048), e: 'AQAAAAAAAAAB' }])
    expect(withKeys(small)).toMatch(/^jwks\.keys\[0\]: must be RSA of 2048 to 8192 bits/);
  expect(withKeys(key, privateKey)).toBe('jwks.keys[1].d: send public keys only');
  expect(withKeys({ kty: 'oct', k: 'c2VjcmV0' })).toBe('jwks.keys[0].k: send public keys only');
  expect(withKeys({ ...key, use: 'enc' })).toBe('jwks.keys[0].use: must be sig');
  expect(withKeys({ kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' })).toBe('jwks.keys[0]: not a public key');
  expect(withKeys({ kty: 'x' })).toBe('jwks.keys[0]: not a public key');
  expect(withKeys(key, key)).toBe('jwks.keys: each needs a kid of its own');
});
