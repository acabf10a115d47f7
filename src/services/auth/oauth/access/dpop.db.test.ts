/** Tokens that are bound to a key (DPoP, RFC 9449): issued, used and refused, with third-party clients and by hand. */
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { IssuedClient, User } from '../../../../../generated/auth/types.ts';
import { childServer, masterKey, testServer, type TestServer } from '../../../../testing/server.ts';
import { newHeldKey, type HeldKey } from '../../testing/dpop.ts';
import { callback, issuer, oauthTools, pkce } from '../../testing/oauth.ts';

let server: TestServer;
let api: ReturnType<typeof oauthTools>;
let key: HeldKey;
let machine: IssuedClient;
let user: User;

const { origin } = new URL(issuer);
const endpoint = `${issuer}/oauth2/token`;
const roles = '/auth/v1/auth/roles';

beforeAll(async () => {
  server = await testServer({ services: ['auth', 'authz'] });
  api = oauthTools(server);
  key = await newHeldKey();
  user = await api.newUser({ name: 'Ada' });
  machine = await api.client({
    redirect_uris: [],
    grant_types: ['client_credentials'],
    scopes: ['auth:read', 'authz:read'],
  });
});
afterAll(() => server.close());

interface Tokens {
  access_token: string;
  refresh_token: string;
  token_type: string;
}
const forItself = async (more: Record<string, string> = {}, of = machine) =>
  api.post('/oauth2/token', { grant_type: 'client_credentials' }, of, more);
const bound = async (): Promise<string> => {
  const { body } = await forItself({ DPoP: await key.prove('POST', endpoint) });
  return (body as Tokens).access_token;
};
/** Sends a request with a token of the scheme `DPoP`. */
const ask = (token: string, proof: string | undefined, path = roles) =>
  server.request('GET', path, {
    token: null,
    headers: { authorization: `DPoP ${token}`, ...(proof !== undefined && { dpop: proof }) },
  });
const proofFor = (token: string, path = roles, claims = {}) => key.prove('GET', origin + path, token, claims);

describe('a token of a client that proves a key', () => {
  it('is bound to it, and works with proofs of it everywhere on the platform, each once', async () => {
    const { status, body } = await forItself({ DPoP: await key.prove('POST', endpoint) });
    expect([status, body]).toMatchObject([200, { token_type: 'DPoP' }]);
    const token = (body as Tokens).access_token;
    expect(decodeJwt(token)['cnf']).toEqual({ jkt: key.thumbprint });
    const proof = await proofFor(token);
    expect((await ask(token, proof)).status).toBe(200);
    const again = await ask(token, proof);
    expect([again.status, again.body]).toMatchObject([401, { code: 'UNAUTHORIZED' }]);
    expect(again.headers.get('www-authenticate')).toBe(
      'DPoP error="invalid_token", algs="ES256 Ed25519 EdDSA"',
    );
    const elsewhere = '/authz/v1/roles';
    expect((await ask(token, await proofFor(token, elsewhere), `${elsewhere}?limit=1`)).status).toBe(200);
    const raced = await proofFor(token);
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(token, raced)));
    expect(answers.filter((one) => one.status === 200)).toHaveLength(1);
  });

  it('is refused as Bearer, without its proof, and with another’s', async () => {
    const token = await bound();
    expect((await server.request('GET', roles, { token })).status).toBe(401);
    const headers = { authorization: `Bearer ${token}`, dpop: await proofFor(token) };
    expect((await server.request('GET', roles, { token: null, headers })).status).toBe(401);
    const stranger = await newHeldKey();
    for (const proof of [
      undefined,
      '',
      'x',
      await stranger.prove('GET', origin + roles, token),
      await key.prove('POST', origin + roles, token),
      await key.prove('GET', `${origin}/auth/v1/auth/users`, token),
      await key.prove('GET', `https://evil.example.com${roles}`, token),
      await key.prove('GET', origin + roles),
      await proofFor(token, roles, { iat: Math.floor(Date.now() / 1_000) - 600 }),
    ])
      expect((await ask(token, proof)).status).toBe(401);
    // Two proofs count as none.
    const two = `${await proofFor(token)}, ${await proofFor(token)}`;
    expect((await ask(token, two)).status).toBe(401);
    expect((await ask(token, await proofFor(token))).status).toBe(200);
  });

  it('is nothing that a token which is not bound could be', async () => {
    const { access_token } = (await forItself()).body as Tokens;
    expect((await server.request('GET', roles, { token: access_token })).status).toBe(200);
    expect((await ask(access_token, await proofFor(access_token))).status).toBe(401);
    expect((await ask('pst_x', await proofFor('pst_x'))).status).toBe(401);
  });

  it('says so when it is asked about, and ends like any other', async () => {
    const token = await bound();
    expect((await api.introspect(machine, token)).body).toMatchObject({
      active: true,
      token_type: 'DPoP',
      cnf: { jkt: key.thumbprint },
    });
    await api.post('/oauth2/revoke', { token });
    expect((await ask(token, await proofFor(token))).status).toBe(401);
  });

  it('is resolved for another server of the platform with its proof, once', async () => {
    const token = await bound();
    const resolve = (body: object) => api.send('POST', '/tokens/resolve', { body: { token, ...body } });
    expect(await resolve({})).toEqual({ active: false });
    const dpop = { proof: await proofFor(token, '/v1/roles'), method: 'GET', path: '/v1/roles' };
    expect(await resolve({ dpop: { ...dpop, method: 'POST' } })).toEqual({ active: false });
    expect(await resolve({ dpop })).toMatchObject({ active: true, client_id: machine.id });
    expect(await resolve({ dpop })).toEqual({ active: false });
  });
});

describe('the token endpoint', () => {
  it('takes a proof once, for itself alone', async () => {
    const proof = await key.prove('POST', endpoint);
    const answers = await Promise.all(Array.from({ length: 8 }, () => forItself({ DPoP: proof })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const wrong of [
      'x',
      await key.prove('GET', endpoint),
      await key.prove('POST', `${issuer}/oauth2/par`),
      await key.prove('POST', endpoint, undefined, { iat: 1 }),
    ]) {
      const { status, body } = await forItself({ DPoP: wrong });
      expect([status, body]).toMatchObject([400, { error: 'invalid_dpop_proof', code: 'BAD_REQUEST' }]);
    }
  });

  it('gives a client whose tokens are always bound none without a proof', async () => {
    const body = { redirect_uris: [], grant_types: ['client_credentials'], scopes: ['own:read'] };
    const strict = await api.client({ ...body, dpop_bound_access_tokens: true });
    expect((await forItself({}, strict)).status).toBe(400);
    const { status } = await forItself({ DPoP: await key.prove('POST', endpoint) }, strict);
    expect(status).toBe(200);
  });

  it('gives the next tokens of a public client to its key alone, and a code to the key that asked', async () => {
    const open = await api.client({ public: true });
    const { verifier, parameters } = pkce();
    const stranger = await newHeldKey();
    const code = await api.code(open, user, { ...parameters, dpop_jkt: key.thumbprint });
    const exchange = async (by: HeldKey | undefined) => {
      const proof = await by?.prove('POST', endpoint);
      const form = {
        grant_type: 'authorization_code',
        code,
        redirect_uri: callback,
        code_verifier: verifier,
      };
      return api.post(
        '/oauth2/token',
        { ...form, client_id: open.client_id },
        undefined,
        proof === undefined ? {} : { DPoP: proof },
      );
    };
    const first = await exchange(key);
    expect([first.status, first.body]).toMatchObject([200, { token_type: 'DPoP' }]);
    const { refresh_token } = first.body as Tokens;
    const refresh = async (by: HeldKey | undefined) => {
      const proof = await by?.prove('POST', endpoint);
      const form = { grant_type: 'refresh_token', refresh_token, client_id: open.client_id };
      return api.post('/oauth2/token', form, undefined, proof === undefined ? {} : { DPoP: proof });
    };
    expect((await refresh(undefined)).status).toBe(400);
    expect((await refresh(stranger)).status).toBe(400);
    expect((await refresh(key)).status).toBe(200);

    const other = pkce();
    const asked = await api.code(open, user, { ...other.parameters, dpop_jkt: key.thumbprint });
    const stolen = await api.post(
      '/oauth2/token',
      {
        grant_type: 'authorization_code',
        code: asked,
        redirect_uri: callback,
        code_verifier: other.verifier,
        client_id: open.client_id,
      },
      undefined,
      { DPoP: await stranger.prove('POST', endpoint) },
    );
    expect([stolen.status, stolen.body]).toMatchObject([400, { error: 'invalid_grant' }]);
  });
});

describe.runIf(inject('engine') === 'postgres')('another process', () => {
  it('knows the proofs that this one took', async () => {
    const child = await childServer({
      services: ['auth', 'authz'],
      env: {
        DATABASE_URL: server.db.options.url!,
        PLINTH_DATA_DIR: server.db.options.dataDir,
        PLINTH_MASTER_KEY: masterKey.toString('base64'),
        PLINTH_AUTH_ISSUER: issuer,
      },
    });
    try {
      const token = await bound();
      const proof = await proofFor(token);
      const headers = { authorization: `DPoP ${token}`, dpop: proof };
      expect((await child.request('GET', roles, { token: null, headers })).status).toBe(200);
      expect((await ask(token, proof)).status).toBe(401);
      const own = await proofFor(token);
      expect((await ask(token, own)).status).toBe(200);
      const late = { authorization: `DPoP ${token}`, dpop: own };
      expect((await child.request('GET', roles, { token: null, headers: late })).status).toBe(401);
    } finally {
      await child.kill();
    }
  });
});
