import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SignedIn } from '../../testing/admin.ts';
import { sessionTools } from '../../testing/sessions.ts';
import { newHeldKey } from '../../testing/dpop.ts';
import { mint } from '../../testing/tokens.ts';
import { type Proxy, proxyTo } from '../../../../testing/proxy.ts';
import { testServer, type TestServer } from '../../../../testing/server.ts';

let auth: TestServer;
let keys: TestServer;
let api: ReturnType<typeof sessionTools>;
/** The proxy between the two servers. */
let proxy: Proxy;
beforeAll(async () => {
  auth = await testServer({
    services: ['auth'],
    env: { PLINTH_AUTH_RESOURCE_URLS: 'https://keys.example.com/, https://api.example.com' },
  });
  api = sessionTools(auth);
  proxy = await proxyTo(`${auth.url}/auth`);
  keys = await testServer({
    services: ['keys'],
    remotes: { auth: { url: proxy.url, token: auth.rootToken } },
  });
});
afterAll(async () => {
  await keys.close();
  await proxy.close();
  await auth.close();
});

const ask = async (token: string) => (await keys.request('GET', '/keys/v1/scopes', { token })).status;
/** The number of token resolutions that the auth server has answered. */
const questions = async () => {
  const { text } = await auth.request('GET', '/metrics');
  return Number(/_count\{[^}]*Tokens_resolve[^}]*\} (\d+)/.exec(text)?.[1] ?? 0);
};

async function holder() {
  const own = await api.signedIn();
  return { own, role: await api.give(own.user, {}, ['keys:read']) };
}

describe('a service without auth of its own', () => {
  it('lets in whom auth knows, as far as their scopes go, and nobody else', async () => {
    const { own } = await holder();
    const without = await api.signedIn();
    expect(await ask(own.session_token)).toBe(200);
    expect(await ask(without.session_token)).toBe(403);
    expect(await ask(`${own.session_token.slice(0, -1)}${own.session_token.endsWith('x') ? 'y' : 'x'}`)).toBe(
      401,
    );
  });

  it('refuses soon after a revocation, and after the loss of a right', async () => {
    const { own } = await holder();
    const other = await holder();
    expect([await ask(own.session_token), await ask(other.own.session_token)]).toEqual([200, 200]);
    await api.send('DELETE', `/sessions/${own.session_id}`, api.as(own));
    await api.send('POST', `/roles/${other.role.id}/unassign`, { body: { user_id: other.own.user.id } });
    const until = { timeout: 1_500, interval: 10 };
    await expect.poll(() => ask(own.session_token), until).toBe(401);
    await expect.poll(() => ask(other.own.session_token), until).toBe(403);
  });

  it('lets nobody in by a role that they hold in an organization', async () => {
    const { own, role } = await holder();
    await api.send('POST', `/roles/${role.id}/unassign`, { body: { user_id: own.user.id } });
    const org_id = await api.organization({ [own.user.id]: 'member' });
    await api.send('POST', `/roles/${role.id}/assign`, { body: { user_id: own.user.id, org_id } });
    await api.send('POST', '/me/switch-org', { ...api.as(own), body: { org_id } });
    expect(await ask(own.session_token)).toBe(403);
  });

  it('refuses an impersonation soon after its impersonator lost the right', async () => {
    const admin = await api.signedIn();
    const right = await api.give(admin.user, {}, ['auth:admin', 'keys:read']);
    const { own } = await holder();
    const { session_token } = await api.send('POST', '/admin/impersonate', {
      ...api.as(admin),
      body: { target_user_id: own.user.id },
    });
    expect(await ask(session_token)).toBe(200);
    await api.send('POST', `/roles/${right.id}/unassign`, { body: { user_id: admin.user.id } });
    await expect.poll(() => ask(session_token), { timeout: 1_500, interval: 10 }).toBe(401);
  });

  it('remembers while it hears of changes', async () => {
    const { own } = await holder();
    await expect
      .poll(async () => {
        await ask(own.session_token);
        const before = await questions();
        expect(before).toBeGreaterThan(0);
        await ask(own.session_token);
        return (await questions()) - before;
      })
      .toBe(0);
  });
});

describe('an access token', () => {
  const tokenOf = ({ user, session_id }: SignedIn) =>
    mint(auth.db, { sub: user.id, scope: 'keys:read', sid: session_id });
  const until = { timeout: 1_500, interval: 10 };

  it('is let in as far as its scopes go, and remembered', async () => {
    const { own } = await holder();
    const token = await tokenOf(own);
    expect(await ask(token)).toBe(200);
    expect(await ask(await mint(auth.db, { scope: 'docs:read' }))).toBe(403);
    expect(await ask(`${token.slice(0, -3)}AAA`)).toBe(401);
    await expect
      .poll(async () => {
        await ask(token);
        const before = await questions();
        await ask(token);
        return (await questions()) - before;
      })
      .toBe(0);
  });

  it('that is bound to a key needs a proof of it for this address, each time another', async () => {
    const { own } = await holder();
    const key = await newHeldKey();
    const token = await mint(auth.db, {
      sub: own.user.id,
      scope: 'keys:read',
      sid: own.session_id,
      cnf: { jkt: key.thumbprint },
    });
    const path = '/keys/v1/scopes';
    const proven = async (dpop: string) => {
      const headers = { authorization: `DPoP ${token}`, dpop };
      return (await keys.request('GET', path, { token: null, headers })).status;
    };
    const proof = await key.prove('GET', `https://keys.example.com${path}`, token);
    expect([await proven(proof), await proven(proof)]).toEqual([200, 401]);
    expect(await proven(await key.prove('GET', `https://elsewhere.example.com${path}`, token))).toBe(401);
    expect(await ask(token)).toBe(401);
    expect(await proven(await key.prove('GET', `https://api.example.com${path}`, token))).toBe(200);
  });

  it('is refused soon after its user was banned, or lost what covered its scopes', async () => {
    const { own } = await holder();
    const other = await api.signedIn();
    const role = await api.give(other.user, {}, ['keys:*']);
    const [token, covered] = [await tokenOf(own), await tokenOf(other)];
    await expect.poll(() => ask(token)).toBe(200);
    expect(await ask(covered)).toBe(200);
    await api.send('POST', `/users/${own.user.id}/ban`, { body: {} });
    await expect.poll(() => ask(token), until).toBe(401);
    const { permissions } = await api.send('GET', `/roles/${role.id}/permissions`);
    await api.send('DELETE', `/roles/${role.id}/permissions/${permissions[0].id}`);
    await expect.poll(() => ask(covered), until).toBe(403);
  });

  it('is not let in by what was remembered, when auth cannot be heard', async () => {
    const { own } = await holder();
    const token = await tokenOf(own);
    await expect.poll(() => ask(token)).toBe(200);
    await proxy.cut();
    await api.send('POST', `/users/${own.user.id}/ban`, { body: {} });
    expect(await ask(token)).toBe(503);
    await proxy.restore();
    expect(await ask(token)).toBe(401);
  });
});

it('without an answer of auth nobody is let in', async () => {
  const alone = await testServer({
    services: ['keys'],
    remotes: { auth: { url: 'http://127.0.0.1:9', token: 'unused' } },
  });
  try {
    const { own } = await holder();
    const { status } = await alone.request('GET', '/keys/v1/scopes', { token: own.session_token });
    expect(status).toBe(503);
  } finally {
    await alone.close();
  }
});
