/** Tests that a server whose clock goes wrong while it runs decides by the database's clock what has expired. */
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { codeOf } from './services/auth/testing/factors.ts';
import { tools } from './services/auth/testing/index.ts';
import { testServer, type TestServer } from './testing/server.ts';

const day = 24 * 3_600_000;
const realNow = Date.now;

// The embedded database runs on the machine of its only server, so both clocks would be wrong together.
describe.runIf(inject('engine') === 'postgres')('a server whose clock goes wrong while it runs', () => {
  let server: TestServer;
  let api: ReturnType<typeof tools>;
  beforeAll(async () => {
    server = await testServer({ services: ['auth', 'keys'], env: { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' } });
    api = tools(server);
  });
  afterEach(() => void vi.restoreAllMocks());
  afterAll(() => server.close());

  const goWrongBy = (ms: number) => void vi.spyOn(Date, 'now').mockImplementation(() => realNow() + ms);
  const databaseNow = async () => {
    const [{ now }] = await server.db.sql<[{ now: number }]>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`;
    return now;
  };
  const me = async (token: string) => (await server.request('GET', '/auth/v1/auth/me', { token })).status;

  it.each([-day, day])('a session that begins at a server %d ms off is good', async (off) => {
    goWrongBy(off);
    const { session_token } = await api.signUp();
    expect([await me(session_token), await me(session_token)]).toEqual([200, 200]);
    const { body } = await server.request('POST', '/auth/v1/auth/tokens/resolve', {
      body: { token: session_token },
    });
    expect(body).toMatchObject({ active: true, cache_ms: 5_000 });
  });

  it('a session that is remembered at a server behind ends when it ends', async () => {
    const { session_token, user } = await api.signUp();
    goWrongBy(-3_600_000);
    const soon = new Date((await databaseNow()) + 2_000);
    await server.db.sql`update auth.sessions set expires_at = ${soon} where user_id = ${user.id}`;
    expect(await me(session_token)).toBe(200);
    await expect.poll(() => me(session_token)).toBe(401);
    expect(await databaseNow()).toBeGreaterThanOrEqual(soon.getTime());
  });

  it.each([-day, day])('a code of an authenticator is good at a server %d ms off', async (off) => {
    goWrongBy(off);
    const { session_token: token } = await api.signUp();
    const enrollment = await api.send('POST', '/mfa/enroll', { token, body: {} });
    const steps = Math.round(((await databaseNow()) - Date.now()) / 30_000);
    await api.send('POST', '/mfa/verify', { token, body: { code: codeOf(enrollment, steps) } });
  });

  it.each([-day, day])('an API key that ends in an hour is good at a server %d ms off', async (off) => {
    goWrongBy(off);
    const hour = new Date((await databaseNow()) + 3_600_000).toISOString();
    const made = await server.request('POST', '/keys/v1/keys', { body: { name: 'Job', expires_at: hour } });
    expect(made.status).toBe(201);
    const { raw_key } = made.body;
    const judged = await server.request('POST', '/keys/v1/keys/validate', { body: { raw_key } });
    expect(judged.body).toMatchObject({ code: 'VALID' });
    const past = new Date((await databaseNow()) - 1_000).toISOString();
    const refused = await server.request('POST', '/keys/v1/keys', {
      body: { name: 'Job', expires_at: past },
    });
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringContaining('expires_at: must be in the future'),
    ]);
  });
});
