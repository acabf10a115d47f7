import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SignedIn } from './services/auth/testing-admin.ts';
import { sessionTools } from './services/auth/testing-sessions.ts';
import { mint } from './services/auth/testing-tokens.ts';
import { type Proxy, proxyTo } from './testing/proxy.ts';
import { testServer, type TestServer } from './testing/server.ts';

let auth: TestServer;
let keys: TestServer;
let api: ReturnType<typeof sessionTools>;
/** Between the two. */
let proxy: Proxy;
beforeAll(async () => {
  auth = await testServer({ services: ['auth'] });
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
/** How many questions the auth server has answered. */
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
