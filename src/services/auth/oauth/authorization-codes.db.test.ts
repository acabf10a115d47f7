import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { IssuedClient, User } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { callback, oauthTools, pkce } from '../testing/oauth.ts';

let server: TestServer;
let api: ReturnType<typeof oauthTools>;
let client: IssuedClient;
let user: User;

beforeAll(async () => {
  server = await testServer({ services: ['auth'] });
  api = oauthTools(server);
  client = await api.client();
  user = await api.newUser({ name: 'Ada' });
});
afterAll(() => server.close());

describe('a code', () => {
  const invalid = [400, { error: 'invalid_grant', code: 'BAD_REQUEST' }];
  const answer = ({ status, body }: { status: number; body: unknown }) => [status, body];
  type Exchanged = { access_token: string; refresh_token: string };
  const isOver = async ({ access_token, refresh_token }: Exchanged) => {
    expect((await api.userinfo(access_token)).status).toBe(401);
    expect(answer(await api.refresh(client, refresh_token))).toMatchObject(invalid);
    expect((await api.introspect(client, access_token)).body).toEqual({ active: false });
  };

  it('is exchanged at most once, however many come at once, and a second one ends the grant', async () => {
    const { verifier, parameters } = pkce();
    const code = await api.code(client, user, parameters);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => api.exchange(client, code, { code_verifier: verifier })),
    );
    const good = answers.filter(({ status }) => status === 200);
    expect(good.length).toBeLessThanOrEqual(1);
    for (const one of answers.filter(({ status }) => status !== 200))
      expect(answer(one)).toMatchObject(invalid);
    for (const { body } of good) await isOver(body as Exchanged);
  });

  it.each([
    ['at once', '0 seconds'],
    ['when its own time is over', '30 minutes'],
  ])('that comes a second time ends the grant, for nobody knows who was first: %s', async (_, later) => {
    const { verifier, parameters } = pkce();
    const code = await api.code(client, user, parameters);
    const first = await api.exchange(client, code, { code_verifier: verifier });
    expect(first.status).toBe(200);
    await server.db.sql`
      update auth.oidc set consumed_at = consumed_at - ${later}::interval, expires_at = expires_at - ${later}::interval
      where model = 'AuthorizationCode' and consumed_at is not null`;
    const stranger = await api.client();
    // A party without the verifier, or another client, ends nothing.
    expect(answer(await api.exchange(client, code, { code_verifier: pkce().verifier }))).toMatchObject(
      invalid,
    );
    expect(answer(await api.exchange(stranger, code, { code_verifier: verifier }))).toMatchObject(invalid);
    const { access_token } = first.body as Exchanged;
    expect((await api.userinfo(access_token)).status).toBe(200);
    expect(answer(await api.exchange(client, code, { code_verifier: verifier }))).toMatchObject(invalid);
    await isOver(first.body as Exchanged);
  });

  it('needs its verifier, its redirect URI and its client', async () => {
    const { verifier, parameters } = pkce();
    const other = await api.client();
    const code = await api.code(client, user, parameters);
    for (const refused of [
      await api.exchange(client, code),
      await api.exchange(client, code, { code_verifier: pkce().verifier }),
      await api.exchange(client, code, { code_verifier: verifier, redirect_uri: `${callback}/` }),
      await api.exchange(other, code, { code_verifier: verifier }),
      await api.exchange(client, 'A'.repeat(43), { code_verifier: verifier }),
    ])
      expect(answer(refused)).toMatchObject(invalid);
    expect((await api.exchange(client, code, { code_verifier: verifier })).status).toBe(200);
  });

  it('is over when its session has ended', async () => {
    const { verifier, parameters } = pkce();
    const code = await api.code(client, user, parameters);
    await api.send('POST', `/users/${user.id}/ban`, { body: { reason: 'test' } });
    await api.send('POST', `/users/${user.id}/unban`);
    expect(answer(await api.exchange(client, code, { code_verifier: verifier }))).toMatchObject(invalid);
  });
});
