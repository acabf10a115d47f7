import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { sessionTools } from '../testing/sessions.ts';

const argon = { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' };
const password = 'correct horse battery staple';

let server: TestServer;
let api: ReturnType<typeof sessionTools>;
beforeAll(async () => {
  const env = { ...argon, PLINTH_AUTH_FRESH: '10m' };
  server = await testServer({ services: ['auth'], env, trustedProxy: ['127.0.0.1'] });
  api = sessionTools(server);
});
afterAll(() => server.close());

/** Sets the time of the session's last authentication to this long ago. */
const provedAgo = (id: string, ago: string) =>
  server.db.sql`update auth.sessions set authenticated_at = now() - ${ago}::interval where id = ${id}`;

describe('what asks for a fresh proof', () => {
  const fresh = [
    ['DELETE', '/me'],
    ['GET', '/me/export'],
  ] as const;

  it.each(fresh)('%s %s: 403 for an old one, again after the password', async (method, path) => {
    const own = await api.signedIn({}, { password });
    await provedAgo(own.session_id, '11 minutes');
    expect(await api.refusal(method, path, api.as(own))).toEqual([
      403,
      'needs a recent sign-in: see POST /me/reauthenticate',
      'reauthentication_required',
    ]);
    expect(await api.send('POST', '/me/reauthenticate', { ...api.as(own), body: { password } })).toEqual({
      status: 'ok',
    });
    await api.send(method, path, api.as(own));
  });

  it.each(fresh)('%s %s: root for the user needs none', async (method, path) => {
    const { user } = await api.signedIn();
    await api.send(method, path, { headers: { 'X-User-ID': user.id } });
  });
});

describe('a proof', () => {
  it('fails in the same words, whatever is wrong', async () => {
    const own = await api.signedIn({}, { password });
    const without = await api.signedIn();
    await provedAgo(own.session_id, '11 minutes');
    const refused = [401, 'invalid credentials'];
    const prove = (who: typeof own, body: object) =>
      api.refusal('POST', '/me/reauthenticate', { ...api.as(who), body });
    expect(await prove(own, { password: `${password}x` })).toEqual(refused);
    expect(await prove(without, { password })).toEqual(refused);
    expect(await prove(own, { method: 'totp', code: '123456' })).toEqual(refused);
    expect((await api.refusal('GET', '/me/export', api.as(own)))[0]).toBe(403);
  });

  it.each([[{}], [{ password, method: 'totp', code: '123456' }], [{ method: 'totp' }], [{ code: '123456' }]])(
    'is one of the two: %j',
    async (body) => {
      const own = await api.signedIn();
      expect((await api.refusal('POST', '/me/reauthenticate', { ...api.as(own), body }))[0]).toBe(400);
    },
  );

  it('cannot be guessed', async () => {
    const own = await api.signedIn({}, { password });
    const statuses: number[] = [];
    for (let tries = 0; tries < 7; tries++)
      statuses.push(
        (await api.refusal('POST', '/me/reauthenticate', { ...api.as(own), body: { password: 'wrong' } }))[0],
      );
    expect(statuses.slice(0, 5)).toEqual([401, 401, 401, 401, 401]);
    expect(statuses).toContain(429);
  });
});

describe('inside an impersonation', () => {
  it.each([
    ['DELETE', '/me', undefined],
    ['GET', '/me/export', undefined],
    ['POST', '/me/reauthenticate', { password }],
  ])('%s %s is refused', async (method, path, body) => {
    const own = await api.signedIn({}, { password });
    const inside = await api.impersonating(own);
    const options = body === undefined ? inside : { ...inside, body };
    expect(await api.refusal(method, path, options)).toEqual([
      403,
      'not allowed while impersonating',
      'impersonated',
    ]);
    expect((await api.send('GET', '/me', inside)).id).toBe(own.user.id);
  });
});
