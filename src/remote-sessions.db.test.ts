import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sessionTools } from './services/auth/testing-sessions.ts';
import { testServer, type TestServer } from './testing/server.ts';

let auth: TestServer;
let keys: TestServer;
let api: ReturnType<typeof sessionTools>;
beforeAll(async () => {
  auth = await testServer({ services: ['auth'] });
  api = sessionTools(auth);
  keys = await testServer({
    services: ['keys'],
    remotes: { auth: { url: `${auth.url}/auth`, token: auth.rootToken } },
  });
});
afterAll(async () => {
  await keys.close();
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
