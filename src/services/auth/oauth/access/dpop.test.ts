import fc from 'fast-check';
import { exportJWK, generateKeyPair } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { basesOf, createProofs, provenId, type ToProve } from './dpop.ts';
import { newHeldKey, type HeldKey } from '../../testing/dpop.ts';

const address = 'https://api.example.com/authz/v1/roles';
const token = 'eyJ.eyJ.sig';
let key: HeldKey;
let wanted: ToProve;
beforeAll(async () => {
  key = await newHeldKey();
  wanted = { token, key: key.thumbprint, method: 'GET', addresses: ['https://other.example.com/', address] };
});

const now = () => Date.now() / 1_000;
const judged = (proof: string, at = now()) => provenId(proof, wanted, at);

describe('a proof', () => {
  it.each<[string, string]>([
    ['as it is', address],
    ['with a query and a fragment, which do not count', `${address}?limit=1#x`],
    ['in another spelling', 'HTTPS://API.example.com:443/authz/./v1/roles'],
  ])('is good for its address: %s', async (_, htu) => {
    expect(await judged(await key.prove('GET', htu, token))).toMatch(/^[\w-]{36}$/);
  });

  it.each<[string, () => Promise<string>]>([
    ['of another method', () => key.prove('POST', address, token)],
    ['of another path', () => key.prove('GET', `${address}/x`, token)],
    ['of another host', () => key.prove('GET', 'https://evil.example.com/authz/v1/roles', token)],
    ['of no address', () => key.prove('GET', 'roles', token)],
    ['of another token', () => key.prove('GET', address, 'other')],
    ['of no token', () => key.prove('GET', address)],
    ['of another key', async () => (await newHeldKey()).prove('GET', address, token)],
    ['too old', () => key.prove('GET', address, token, { iat: Math.floor(now()) - 310 })],
    ['from the future', () => key.prove('GET', address, token, { iat: Math.floor(now()) + 310 })],
    ['from no time', () => key.prove('GET', address, token, { iat: undefined })],
    ['of an endless time', () => key.prove('GET', address, token, { iat: 1e308 })],
    ['without an id', () => key.prove('GET', address, token, { jti: undefined })],
    ['with an empty id', () => key.prove('GET', address, token, { jti: '' })],
    ['with an id without end', () => key.prove('GET', address, token, { jti: 'x'.repeat(257) })],
    ['of another type', () => key.prove('GET', address, token, {}, { typ: 'JWT' })],
    ['that is over', () => key.prove('GET', address, token, { exp: Math.floor(now()) - 1 })],
    ['that is too long', () => key.prove('GET', address, token, { more: 'x'.repeat(8_192) })],
    ['that names no key', () => key.prove('GET', address, token, {}, { jwk: undefined })],
  ])('%s is none', async (_, made) => {
    expect(await judged(await made())).toBeUndefined();
  });

  it('whose signature is another’s is none', async () => {
    const [head, , signature] = (await key.prove('GET', address, token)).split('.');
    const [, payload] = (await key.prove('GET', address, token)).split('.');
    expect(await judged(`${head}.${payload}.${signature}`)).toBeUndefined();
  });

  it('with the private key in it, or a shared one, is none', async () => {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    const jwk = await exportJWK(privateKey);
    expect(await judged(await key.prove('GET', address, token, {}, { jwk }))).toBeUndefined();
    const head = { alg: 'HS256', typ: 'dpop+jwt', jwk: { kty: 'oct', k: 'c2VjcmV0' } };
    const shared = Buffer.from(JSON.stringify(head)).toString('base64url');
    expect(await judged(`${shared}.e30.c2ln`)).toBeUndefined();
  });

  it('that is nonsense is none, and no error', () =>
    fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string(),
          fc.json().map((head) => `${Buffer.from(head).toString('base64url')}.e30.c2ln`),
          fc
            .json()
            .map((jwk) => `${Buffer.from(`{"alg":"ES256","jwk":${jwk}}`).toString('base64url')}.e30.c2ln`),
        ),
        async (text) => {
          expect(await judged(text)).toBeUndefined();
        },
      ),
      { numRuns: 200 },
    ));

  it('is good once', async () => {
    const used = new Set<string>();
    const usedOnce = (kind: string, id: string, seconds: number) => {
      expect([kind, seconds]).toEqual(['dpop', 600]);
      return Promise.resolve(used.size < used.add(id).size);
    };
    const proofs = createProofs({ clock: Date, usedOnce, bases: ['https://api.example.com'] });
    const proof = await key.prove('GET', address, token);
    const presented = { proof, method: 'GET', path: '/authz/v1/roles' };
    const bound = { token, key: key.thumbprint };
    expect(await proofs.holds({ ...presented, path: '/authz/v1/role' }, bound)).toBe(false);
    expect(await proofs.holds(presented, bound)).toBe(true);
    expect(await proofs.holds(presented, bound)).toBe(false);
    expect(used.size).toBe(1);
  });
});

it.each([
  ['http://127.0.0.1:4000/auth/v1/auth', '/auth/v1/auth', 'http://127.0.0.1:4000'],
  ['https://example.com/plinth/auth/v1/auth', '/auth/v1/auth', 'https://example.com/plinth'],
  ['https://id.example.com', '/auth/v1/auth', 'https://id.example.com'],
  ['https://id.example.com/login', '/v1/auth', 'https://id.example.com'],
])('services of the issuer %s below %s are at %s', (issuer, path, base) => {
  expect(basesOf(issuer, path, ['https://api.example.com'])).toEqual([base, 'https://api.example.com']);
});
