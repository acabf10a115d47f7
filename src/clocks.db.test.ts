/**
 * Tests that a server with a wrong clock decides by the database's clock what has expired, like all other servers on the database. The
 * embedded database runs on the machine of its only server, so both clocks are wrong together.
 */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { codeOf } from './services/auth/testing/factors.ts';
import type { IssuedClient, NewMfaEnrollment } from '../generated/auth/types.ts';
import { newHeldKey } from './services/auth/testing/dpop.ts';
import { pkce } from './services/auth/testing/oauth.ts';
import { testBrowser } from './services/auth/testing/pages.ts';
import { newEmail, newPhone, tools } from './services/auth/testing/index.ts';
import { childDatabase, type ChildDatabase } from './testing/database.ts';
import { childServer, type ChildServer } from './testing/server.ts';

const hour = 3_600_000;
const day = 24 * hour;
const onServer = inject('engine') === 'postgres';
const password = 'correct horse battery staple';
const callback = 'https://reports.example.com/callback';

/** The Node option that makes the clock of every thread of a process wrong. */
const wrongBy = (ms: number) =>
  `--import=data:text/javascript,${encodeURIComponent(`
    const Right = Date;
    globalThis.Date = class extends Right {
      constructor(...parts) { super(...(parts.length === 0 ? [Right.now() + ${ms}] : parts)); }
      static now() { return Right.now() + ${ms}; }
    };`)}`;

describe.each([
  ['a day ahead', day],
  ['an hour behind', -hour],
])('a host whose clock is %s', (_, off) => {
  /** The requests that the server sent to the receiver. */
  const received: { path: string | undefined; headers: IncomingHttpHeaders; body: string }[] = [];
  let receiver: Server;
  let target: string;
  let db: ChildDatabase;
  let server: ChildServer;
  let api: ReturnType<typeof tools>;
  let issuer: string;

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      let body = '';
      request.on('data', (piece: Buffer) => (body += piece.toString()));
      request.on('end', () => {
        received.push({ path: request.url, headers: request.headers, body });
        response.end();
      });
    });
    await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
    target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    db = await childDatabase(['auth', 'keys']);
    server = await childServer({
      services: ['auth', 'keys'],
      env: {
        NODE_OPTIONS: wrongBy(off),
        ...db.env,
        PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1',
        PLINTH_AUTH_SMS_URL: `${target}/sms`,
        PLINTH_AUTH_SMS_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
      },
    });
    api = tools(server);
    issuer = `${server.url}/auth/v1/auth`;
  });
  afterAll(async () => {
    await server.kill();
    await db.remove();
    receiver.close();
  });

  const databaseNow = () => Date.now() + (onServer ? 0 : off);
  /** Expects a time in seconds to be the current time of the database's clock, with a tolerance for delays. */
  const expectNow = (seconds: unknown) =>
    expect(Math.abs(Number(seconds) * 1_000 - databaseNow())).toBeLessThan(60_000);
  const next = (path: string) =>
    vi.waitFor(
      () => {
        const found = received.find((one) => one.path === path);
        if (!found) throw new Error(`nothing came to ${path}`);
        return found;
      },
      { timeout: 20_000 },
    );
  const newClient = (body: object = {}): Promise<IssuedClient> =>
    api.send('POST', '/oauth2/clients', { body: { name: 'Reports', redirect_uris: [callback], ...body } });
  const form = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    server.request('POST', `/auth/v1/auth${path}`, {
      token: null,
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });
  const basic = ({ client_id, client_secret }: IssuedClient) => ({
    authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}`,
  });

  it('issues and takes sessions', async () => {
    const { session_token: token } = await api.signUp();
    const me = async () => (await server.request('GET', '/auth/v1/auth/me', { token })).status;
    expect([await me(), await me()]).toEqual([200, 200]);
    const resolved = await api.send('POST', '/tokens/resolve', { body: { token } });
    expect(resolved).toMatchObject({ active: true, cache_ms: 5_000 });
  });

  it('takes codes of an authenticator', async () => {
    const { session_token: token } = await api.signUp();
    const enrollment = (await api.send('POST', '/mfa/enroll', { token, body: {} })) as NewMfaEnrollment;
    const steps = Math.round((databaseNow() - Date.now()) / 30_000);
    await api.send('POST', '/mfa/verify', { token, body: { code: codeOf(enrollment, steps) } });
  });

  it('keeps API keys until they end', async () => {
    const end = (ms: number) => new Date(databaseNow() + ms).toISOString();
    const make = (ms: number) =>
      server.request('POST', '/keys/v1/keys', { body: { name: 'Job', expires_at: end(ms) } });
    const { status, body } = await make(60_000);
    expect(status).toBe(201);
    const judged = await server.request('POST', '/keys/v1/keys/validate', {
      body: { raw_key: body.raw_key, cost: 1 },
    });
    expect(judged.body).toMatchObject({ code: 'VALID' });
    expect(await make(-60_000)).toMatchObject({ status: 400 });
    // A use from now is in the list of the last day, with the database's time.
    const { body: uses } = await server.request('GET', `/keys/v1/keys/${body.key.id}/usage`);
    expect(uses).toHaveLength(1);
    expectNow(Date.parse(uses[0].created_at as string) / 1_000);
  });

  it('signs users in to clients: codes, tokens and id tokens', async () => {
    const client = await newClient({
      skip_consent: true,
      scopes: ['openid', 'offline_access'],
      grant_types: ['authorization_code', 'refresh_token'],
      backchannel_logout_uri: `${target}/logout`,
    });
    const { user } = await api.signUp();
    const browser = testBrowser(server);
    const { verifier, parameters: challenge } = pkce();
    const asked = new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: callback,
      response_type: 'code',
      scope: 'openid offline_access',
      max_age: '600',
      ...challenge,
    });
    const page = await browser.follow(await browser.open(`/oauth2/authorize?${asked.toString()}`));
    const left = await browser.follow(
      await browser.submit(page, '/signin', { identifier: user.email!, password }),
    );
    expect(left.location, left.text).toBeDefined();
    const code = new URL(left.location!).searchParams.get('code')!;
    const exchanged = await form(
      '/oauth2/token',
      { grant_type: 'authorization_code', code, redirect_uri: callback, code_verifier: verifier },
      basic(client),
    );
    expect(exchanged.status, exchanged.text).toBe(200);
    const { access_token, id_token, refresh_token } = exchanged.body as Record<string, string>;
    const [access, id] = [decodeJwt(access_token!), decodeJwt(id_token!)];
    expectNow(access.iat);
    expectNow(Number(access['iat_ms']) / 1_000);
    expectNow(access.exp! - exchanged.body.expires_in);
    expectNow(id.iat);
    expectNow(id.exp! - 3_600);
    expectNow(id['auth_time']);
    expect(
      await server.request('GET', '/auth/v1/auth/oauth2/userinfo', { token: access_token! }),
    ).toMatchObject({
      status: 200,
      body: { sub: user.id },
    });
    const introspected = await form('/oauth2/introspect', { token: access_token! }, basic(client));
    expect(introspected.body).toMatchObject({ active: true, exp: access.exp });
    const resolved = await api.send('POST', '/tokens/resolve', { body: { token: access_token } });
    expect(resolved).toMatchObject({ active: true, cache_ms: 5_000 });
    const fields = { grant_type: 'refresh_token', refresh_token: refresh_token! };
    const refreshed = await form('/oauth2/token', fields, basic(client));
    expect(refreshed.status, refreshed.text).toBe(200);
    // The browser is still signed in, and the sign-in is recent.
    const again = await browser.follow(
      await browser.open(`/oauth2/authorize?${asked.toString()}&prompt=none`),
    );
    expect(new URL(again.location!).searchParams.get('code')).not.toBeNull();
    await api.send('POST', `/users/${user.id}/ban`, { body: {} });
    const told = decodeJwt(new URLSearchParams((await next('/logout')).body).get('logout_token')!);
    expectNow(told.iat);
    expectNow(told.exp! - 120);
  });

  it('takes what clients sign of themselves, and their secrets in their time of grace', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const keyed = await newClient({
      redirect_uris: [],
      grant_types: ['client_credentials'],
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' }] },
    });
    const signed = async (ms: number) => {
      const now = Math.floor((databaseNow() + ms) / 1_000);
      const claims = { iss: keyed.id, sub: keyed.id, aud: issuer, jti: crypto.randomUUID() };
      const jwt = new SignJWT({ ...claims, iat: now, nbf: now, exp: now + 60 });
      const { status } = await form('/oauth2/token', {
        grant_type: 'client_credentials',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: await jwt.setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(privateKey),
      });
      return status;
    };
    expect([await signed(0), await signed(-120_000), await signed(120_000)]).toEqual([200, 401, 401]);
    const secret = await newClient({ redirect_uris: [], grant_types: ['client_credentials'] });
    const grant = { grant_type: 'client_credentials' };
    await api.send('POST', `/oauth2/clients/${secret.id}/rotate-secret`, { body: { grace_period: '1m' } });
    expect((await form('/oauth2/token', grant, basic(secret))).status).toBe(200);
  });

  it('takes tokens with proofs of their key', async () => {
    const key = await newHeldKey();
    const scopes = ['keys:read'];
    const machine = await newClient({ redirect_uris: [], grant_types: ['client_credentials'], scopes });
    const at = (ms: number) => ({ iat: Math.floor((databaseNow() + ms) / 1_000) });
    const ask = async (ms: number) => {
      const dpop = await key.prove('POST', `${issuer}/oauth2/token`, undefined, at(ms));
      return form('/oauth2/token', { grant_type: 'client_credentials' }, { ...basic(machine), dpop });
    };
    expect((await ask(-600_000)).status).toBe(400);
    const { status, body } = await ask(0);
    expect([status, body]).toMatchObject([200, { token_type: 'DPoP' }]);
    const token = body.access_token as string;
    const path = '/keys/v1/keys';
    const use = async (ms: number) => {
      const dpop = await key.prove('GET', server.url + path, token, at(ms));
      const headers = { authorization: `DPoP ${token}`, dpop };
      return (await server.request('GET', path, { token: null, headers })).status;
    };
    expect([await use(0), await use(-600_000)]).toEqual([200, 401]);
  });

  it('signs what it sends to others with the time', async () => {
    const body = { url: `${target}/events`, events: ['*'] };
    const { id } = await api.send('POST', '/webhooks', { body });
    await api.send('POST', `/webhooks/${id}/test`);
    const delivery = await next('/events');
    expectNow(delivery.headers['webhook-timestamp']);
    expectNow(Date.parse((JSON.parse(delivery.body) as { time: string }).time) / 1_000);
    await api.send('POST', '/phone/send-code', {
      token: null,
      body: { phone: newPhone(), app_id: 'default' },
    });
    expectNow((await next('/sms')).headers['webhook-timestamp']);
    // The email about the change names the day.
    const { user, session_token: token } = await api.signUp({ email: newEmail() });
    await api.send('POST', '/change-password', {
      token,
      body: { current_password: password, new_password: 'seven brass wheels turn' },
    });
    const { text } = await api.message(user.email!, 'security_notice');
    expect(text).toContain(new Date(databaseNow()).toISOString().slice(0, 10));
  });
});
