import { createHmac, createPublicKey } from 'node:crypto';
import {
  calculateJwkThumbprint,
  compactVerify,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTPayload,
  jwtVerify,
} from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { positions } from '../../../../db/positions.ts';
import { type AccessTokens, createAccessTokens } from './access-tokens.ts';
import { newClaims, signed, testAudience, testIssuer } from '../../testing/tokens.ts';

async function newKey(alg = 'ES256'): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = await exportJWK(privateKey);
  return { ...jwk, alg, use: 'sig', kid: await calculateJwkThumbprint(jwk) };
}
const publicPart = ({ kty, crv, x, y, n, e, kid, alg, use }: JWK): JWK =>
  JSON.parse(JSON.stringify({ kty, crv, x, y, n, e, kid, alg, use })) as JWK;

let key: JWK;
let rsa: JWK;
beforeAll(async () => {
  key = await newKey();
  rsa = await newKey('RS256');
});

interface World {
  keys?: JWK[];
  refused?: string[];
  held?: string[];
}

/** The access tokens of a process, with state that a test may change meanwhile. */
function world({ keys = [key, rsa], refused = [], held = [] }: World = {}) {
  const seen = positions();
  const now = { version: 1, keys, refused, held, asked: 0 };
  const set = () => ({ version: now.version, published: now.keys.map(publicPart), signing: now.keys });
  let remembered = set();
  const tokens: AccessTokens = createAccessTokens({
    proofs: { holds: ({ proof }, { key }) => Promise.resolve(proof === key) },
    signingKeys: { current: () => remembered, latest: async () => (remembered = set()) },
    denylist: {
      refused: (asked) => {
        now.asked++;
        return new Set(asked.map(({ id }) => id).filter((id) => now.refused.includes(id)));
      },
    },
    heldScopes: () => now.held,
    changes: { ...seen, clock: Date },
    issuer: testIssuer,
    audience: testAudience,
    size: 100,
  });
  return { ...tokens, now, seen };
}

describe('an access token that is good', () => {
  it('stands for a client, or for a user as far as its scopes go', async () => {
    const { resolve } = world();
    const claims = newClaims({ scope: 'docs:read', org_id: 'org_1', sid: 'sess_1', gid: 'grant_1' });
    const own = {
      id: claims.jti,
      tenant: 'default',
      app: 'default',
      client_id: claims['client_id'],
      user_id: null,
      session_id: 'sess_1',
      org_id: 'org_1',
      impersonated_by: null,
      scopes: ['docs:read'],
      expires_at: new Date(claims.exp * 1_000).toISOString(),
    };
    expect(await resolve(await signed(key, claims))).toEqual(own);
    const act = { sub: 'user_2' };
    expect(await resolve(await signed(key, { ...claims, jti: 'other', sub: 'user_1', act }))).toEqual({
      ...own,
      id: 'other',
      user_id: 'user_1',
      impersonated_by: 'user_2',
    });
  });

  it('is verified once, and answered at once from then on', async () => {
    const { resolve, now } = world();
    const token = await signed(key, newClaims());
    const first = resolve(token);
    expect(first).toBeInstanceOf(Promise);
    expect(resolve(token)).toBeInstanceOf(Promise);
    const found = await first;
    expect(resolve(token)).toEqual(found);
    expect(now.asked).toBe(1);
  });

  it('may name more audiences than the platform; without it only its claims are told', async () => {
    const { resolve, verify } = world();
    expect(
      await resolve(await signed(key, newClaims({ aud: ['https://a.example', testAudience] }))),
    ).toBeDefined();
    const foreign = await signed(key, newClaims({ aud: 'https://a.example' }));
    expect(await resolve(foreign)).toBeUndefined();
    expect(await verify(foreign)).toMatchObject({ audiences: ['https://a.example'] });
  });

  it('keeps of the scopes of the platform those that its user holds now', async () => {
    const { resolve, now } = world({ held: ['keys:*', 'auth:read'] });
    const claims = newClaims({ sub: 'user_1', scope: 'openid docs:read keys:write auth:read auth:admin *' });
    const token = await signed(key, claims);
    const scopes = async () => (await resolve(token))?.scopes;
    expect(await scopes()).toEqual(['openid', 'docs:read', 'keys:write', 'auth:read']);
    now.held = [];
    expect(await scopes()).toEqual(['openid', 'docs:read']);
    const client = await resolve(await signed(key, newClaims({ scope: 'auth:admin' })));
    expect(client?.scopes).toEqual(['auth:admin']);
  });
});

describe('a token is refused', () => {
  const refusals: [what: string, claims: () => JWTPayload, header?: Record<string, string>][] = [
    ['of another issuer', () => newClaims({ iss: 'https://evil.example' })],
    ['for another audience', () => newClaims({ aud: 'urn:other' })],
    ['without an audience', () => newClaims({ aud: undefined })],
    ['that has expired', () => newClaims({ exp: Math.floor(Date.now() / 1_000) - 1 })],
    ['that never expires', () => newClaims({ exp: undefined })],
    ['that is not good yet', () => newClaims({ nbf: Math.floor(Date.now() / 1_000) + 60 })],
    ['without the time of its issue', () => newClaims({ iat_ms: undefined })],
    ['with a text as time of its issue', () => newClaims({ iat_ms: '9999999999999' })],
    ['without an id', () => newClaims({ jti: undefined })],
    ['without a subject', () => newClaims({ sub: undefined })],
    ['without a tenant', () => newClaims({ tenant_id: undefined })],
    ['without an app', () => newClaims({ app_id: undefined })],
    ['without a client', () => newClaims({ client_id: undefined })],
    ['with scopes that are no text', () => newClaims({ scope: ['auth:admin'] })],
    ['that is an id token', () => newClaims(), { typ: 'JWT' }],
    ['of a kind that is unknown', () => newClaims(), { typ: 'logout+jwt' }],
    ['of a key that is not there', () => newClaims(), { kid: 'A'.repeat(43) }],
  ];
  it.each(refusals)('%s', async (_, claims, header = {}) => {
    expect(await world().resolve(await signed(key, claims(), header))).toBeUndefined();
  });

  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const head = (change: object = {}) => encoded({ alg: 'ES256', kid: key.kid, typ: 'at+jwt', ...change });

  it('without a signature, whatever it calls that', async () => {
    const { resolve } = world();
    for (const alg of ['none', 'None', 'NONE'])
      for (const signature of ['', 'AA', 'A'.repeat(86)])
        expect(await resolve(`${head({ alg })}.${encoded(newClaims())}.${signature}`)).toBeUndefined();
    expect(await resolve(`${head()}.${encoded(newClaims())}.${'A'.repeat(86)}`)).toBeUndefined();
  });

  it('signed with the public key as a shared secret', async () => {
    const { resolve } = world();
    const pub = createPublicKey({ key: publicPart(key), format: 'jwk' });
    const secrets = [
      pub.export({ type: 'spki', format: 'pem' }),
      pub.export({ type: 'spki', format: 'der' }),
      Buffer.concat([Buffer.from([4]), Buffer.from(key.x!, 'base64url'), Buffer.from(key.y!, 'base64url')]),
      JSON.stringify(publicPart(key)),
    ];
    for (const secret of secrets) {
      const input = `${head({ alg: 'HS256' })}.${encoded(newClaims())}`;
      const mac = createHmac('sha256', secret).update(input).digest('base64url');
      expect(await resolve(`${input}.${mac}`)).toBeUndefined();
    }
  });

  it('signed with a key that signs something else, or nothing yet known', async () => {
    const { resolve } = world();
    expect(await resolve(await signed(rsa, newClaims()))).toBeUndefined();
    const foreign = await newKey();
    expect(await resolve(await signed(foreign, newClaims()))).toBeUndefined();
    expect(await resolve(await signed(foreign, newClaims(), { kid: key.kid! }))).toBeUndefined();
    const embedded = await signed(foreign, newClaims(), { kid: key.kid!, jwk: publicPart(foreign) as never });
    expect(await resolve(embedded)).toBeUndefined();
  });

  it('with any change of its payload', async () => {
    const { resolve } = world();
    const claims = newClaims();
    const [first, , signature] = (await signed(key, claims)).split('.');
    expect(await resolve(`${first}.${encoded({ ...claims, scope: '*' })}.${signature}`)).toBeUndefined();
    expect(await resolve(`${first}.${encoded(claims)}.${signature}`)).toBeDefined();
  });

  it('that is none, without a look at any key', () => {
    const { resolve } = world();
    for (const text of ['', '.', 'a.b.c', 'eyJ.eyJ', `eyJ${'a'.repeat(8_192)}.b.c`, 'eyJh.eyJh.a.b.c'])
      expect(resolve(text)).toBeUndefined();
  });
});

describe('what was remembered', () => {
  const claims = () =>
    newClaims({
      sub: 'user_1',
      sid: 'sess_1',
      gid: 'grant_1',
      client_id: 'client_1',
      jti: 'tok_1',
      scope: 'a:b docs:read',
    });

  it.each([
    ['token', 'tok_1'],
    ['grant', 'grant_1'],
    ['session', 'sess_1'],
    ['user', 'user_1'],
    ['client', 'client_1'],
    ['app', 'default'],
    ['scope', 'default docs:read'],
    ['scope', 'default a:b'],
  ])('is forgotten with a change of its %s', async (kind, id) => {
    const { resolve, now, seen } = world();
    const token = await signed(key, claims());
    await resolve(token);
    expect(resolve(token)).toMatchObject({ id: 'tok_1' });
    now.refused.push('tok_1');
    seen.mark({ kind, id: 'another' });
    expect(resolve(token)).toMatchObject({ id: 'tok_1' });
    seen.mark({ kind, id });
    expect(await resolve(token)).toBeUndefined();
  });

  it('ends with the token', async () => {
    const { resolve } = world();
    const token = await signed(key, { ...claims(), exp: Math.floor(Date.now() / 1_000) + 1 });
    expect(await resolve(token)).toBeDefined();
    await expect.poll(() => resolve(token)).toBeUndefined();
  });
});

it('keys that turn while tokens are verified refuse none that is good', async () => {
  const all = await Promise.all([newKey(), newKey(), newKey(), newKey()]);
  const { resolve, now } = world({ keys: all.slice(0, 2) });
  const failed: unknown[] = [];
  for (let turn = 0; turn < 3; turn++) {
    const signs = all[turn]!;
    const tokens = await Promise.all(Array.from({ length: 50 }, () => signed(signs, newClaims())));
    const asking = tokens.map(async (token) => (await resolve(token)) ?? failed.push(token));
    now.keys = all.slice(0, turn + 3);
    now.version++;
    await Promise.all(asking);
  }
  expect(failed).toEqual([]);
});

describe('jose, as it is used here', () => {
  const payload =
    'eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ';

  it('verifies the example of RFC 7515 A.3 with its key, and nothing that was changed', async () => {
    const jwk = {
      kty: 'EC',
      crv: 'P-256',
      x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
      y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
    };
    const signature =
      'DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q';
    const publicKey = await importJWK(jwk, 'ES256');
    const verify = (jws: string) => compactVerify(jws, publicKey, { algorithms: ['ES256'] });
    expect((await verify(`eyJhbGciOiJFUzI1NiJ9.${payload}.${signature}`)).protectedHeader).toEqual({
      alg: 'ES256',
    });
    await expect(verify(`eyJhbGciOiJFUzI1NiJ9.${payload.replace('t', 'u')}.${signature}`)).rejects.toThrow();
    // The token itself expired long ago.
    await expect(jwtVerify(`eyJhbGciOiJFUzI1NiJ9.${payload}.${signature}`, publicKey)).rejects.toThrow(/exp/);
  });

  it('takes the example of RFC 7515 A.1 only where its algorithm is asked for', async () => {
    const k = 'AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow';
    const jws = `eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.${payload}.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk`;
    const secret = Buffer.from(k, 'base64url');
    await expect(compactVerify(jws, secret, { algorithms: ['HS256'] })).resolves.toBeDefined();
    await expect(compactVerify(jws, secret, { algorithms: ['ES256'] })).rejects.toThrow(/alg/);
  });

  it('never takes the example of RFC 7515 A.5, which nobody signed', async () => {
    await expect(
      compactVerify(`eyJhbGciOiJub25lIn0.${payload}.`, await importJWK(publicPart(key), 'ES256')),
    ).rejects.toThrow();
  });
});
