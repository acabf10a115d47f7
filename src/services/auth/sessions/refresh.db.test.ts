import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { AuthResult, TokenSet } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { tools } from '../testing/index.ts';
import { issueToken } from '../directory/tokens.ts';

const onServer = inject('engine') === 'postgres';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env: { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' } });
  api = tools(server);
});
afterAll(() => server.close());

const refresh = (refresh_token: string, key?: string) =>
  server.request('POST', '/auth/v1/auth/refresh', {
    token: null,
    body: { refresh_token },
    ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
  });
const isLive = async (token: string) => {
  const { status } = await server.request('POST', '/auth/v1/auth/change-password', { token, body: {} });
  return status === 400;
};
const invalid = '401 {"error":"invalid credentials","code":"UNAUTHORIZED"}';
const reused = '401 {"error":"invalid credentials","code":"UNAUTHORIZED","reason":"refresh_reused"}';
const said = ({ status, text }: { status: number; text: string }) => `${status} ${text}`;

/** Moves the times of a user's sessions into the past. */
async function age({ user }: AuthResult, seconds: number): Promise<void> {
  const { sql } = server.db;
  const ago = sql`${seconds} * interval '1 second'`;
  await sql`update auth.sessions set rotated_at = rotated_at - ${ago} where user_id = ${user.id}`;
  await sql`
    update auth.spent_refresh set spent_at = spent_at - ${ago}
    where session_id in (select id from auth.sessions where user_id = ${user.id})`;
}

const eventsOf = async ({ user }: AuthResult) => {
  const rows = await server.db.sql<{ type: string }[]>`
    select type from auth.outbox where actor in (${user.id}, 'anonymous') and data->>'user_id' = ${user.id} order by seq`;
  return rows.map(({ type }) => type);
};

describe('refresh', () => {
  it('200 replaces both tokens; the old ones are good no more', async () => {
    const first = await api.signUp();
    const answer = await refresh(first.refresh_token);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body).toEqual({
      session_token: expect.stringMatching(/^pst_[0-9A-Za-z]{55}$/),
      refresh_token: expect.stringMatching(/^prt_[0-9A-Za-z]{55}$/),
      expires_at: expect.any(String),
    });
    expect(await isLive(first.session_token)).toBe(false);
    expect(await isLive(answer.body.session_token)).toBe(true);
    expect((await refresh(answer.body.refresh_token)).status).toBe(200);
  });

  it('401 for garbage, a typo, another tag, a session token and an unknown token, in the same words', async () => {
    const { refresh_token, session_token } = await api.signUp();
    const typo = refresh_token.slice(0, -1) + (refresh_token.endsWith('0') ? '1' : '0');
    const unknown = issueToken('prt', refresh_token.slice(4, 10)).token;
    for (const token of ['x', typo, session_token, unknown, issueToken('prt', '000000').token])
      expect(said(await refresh(token))).toBe(invalid);
    expect((await refresh(refresh_token)).status).toBe(200);
  });

  it('400 for none, an empty one and one that is too long', async () => {
    expect(await api.refusal('POST', '/refresh', { token: null, body: {} })).toEqual([
      400,
      'refresh_token: required',
    ]);
    expect((await refresh('')).status).toBe(400);
    expect((await refresh('x'.repeat(257))).status).toBe(400);
    expect((await refresh('x', 'ä'.repeat(300))).status).toBe(400);
  });

  it('401 where the session has ended, by time or by sign-out', async () => {
    const [one, other] = [await api.signUp(), await api.signUp()];
    await server.db.sql`update auth.sessions set refresh_expires_at = now() where user_id = ${one.user.id}`;
    await api.send('POST', '/signout', { token: other.session_token });
    for (const { refresh_token } of [one, other]) expect(said(await refresh(refresh_token))).toBe(invalid);
  });

  it('a stale session goes on: its session token has expired, its refresh token has not', async () => {
    const { user, refresh_token, session_token } = await api.signUp();
    await server.db.sql`update auth.sessions set expires_at = now() where user_id = ${user.id}`;
    expect(await isLive(session_token)).toBe(false);
    expect((await refresh(refresh_token)).status).toBe(200);
  });

  it('of 50 at once one wins, and the session lives', async () => {
    const signedIn = await api.signUp();
    const answers = await Promise.all(Array.from({ length: 50 }, () => refresh(signedIn.refresh_token)));
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect(new Set(answers.filter((answer) => !won.includes(answer)).map(said))).toEqual(new Set([reused]));
    expect(await isLive(won[0]!.body.session_token)).toBe(true);
    expect(await eventsOf(signedIn)).not.toContain('auth.refresh_reused');
  });

  it('many sessions at once each get a pair of their own', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => api.signUp()));
    const answers = await Promise.all(all.map(({ refresh_token }) => refresh(refresh_token)));
    const users = await Promise.all(
      answers.map(({ body }) => api.send('GET', '/me', { token: body.session_token as string })),
    );
    expect(users.map(({ id }) => id as string)).toEqual(all.map(({ user }) => user.id));
    expect(await Promise.all(all.map(({ session_token }) => isLive(session_token)))).toEqual(
      Array(20).fill(false),
    );
  });

  it.runIf(onServer)(
    'who has to wait for a session that is being written keeps no other waiting',
    async () => {
      const [written, ...others] = await Promise.all(Array.from({ length: 5 }, () => api.signUp()));
      const { waiting } = await server.db.transaction(async (sql) => {
        await sql`select from auth.sessions where user_id = ${written!.user.id} for update`;
        const waiting = refresh(written!.refresh_token);
        const answers = await Promise.all(others.map(({ refresh_token }) => refresh(refresh_token)));
        expect(answers.map(({ status }) => status)).toEqual(Array(4).fill(200));
        return { waiting };
      });
      expect((await waiting).status).toBe(200);
    },
  );

  it('a spent token that comes back later ends the session, once', async () => {
    const signedIn = await api.signUp();
    const { body: next } = await refresh(signedIn.refresh_token);
    await age(signedIn, 9);
    expect(said(await refresh(signedIn.refresh_token))).toBe(reused);
    expect(await isLive(next.session_token)).toBe(true);
    await age(signedIn, 2);
    const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(signedIn.refresh_token)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(401));
    expect(await isLive(next.session_token)).toBe(false);
    expect(said(await refresh(next.refresh_token))).toBe(invalid);
    expect((await eventsOf(signedIn)).filter((type) => type === 'auth.refresh_reused')).toHaveLength(1);
  });

  it('a token of two refreshes ago ends the session, too', async () => {
    const signedIn = await api.signUp();
    const { body: second } = await refresh(signedIn.refresh_token);
    const { body: third } = await refresh(second.refresh_token);
    await age(signedIn, 11);
    expect(said(await refresh(signedIn.refresh_token))).toBe(reused);
    expect(await isLive(third.session_token)).toBe(false);
  });
});

describe('refresh with an Idempotency-Key', () => {
  it('all of 50 at once get one pair', async () => {
    const { refresh_token } = await api.signUp();
    const answers = await Promise.all(Array.from({ length: 50 }, () => refresh(refresh_token, 'same')));
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await isLive(answers[0]!.body.session_token)).toBe(true);
  });

  it('the repeat is answered the same pair for a minute, and never with another key or after a later refresh', async () => {
    const signedIn = await api.signUp();
    const { body: next } = (await refresh(signedIn.refresh_token, 'key')) as { body: TokenSet };
    await age(signedIn, 50);
    expect((await refresh(signedIn.refresh_token, 'key')).body).toEqual(next);
    await refresh(next.refresh_token, 'key');
    expect((await refresh(signedIn.refresh_token, 'key')).status).toBe(401);
  });

  it('another key or none is a spent token like any other', async () => {
    const signedIn = await api.signUp();
    await refresh(signedIn.refresh_token, 'key');
    expect(said(await refresh(signedIn.refresh_token, 'other'))).toBe(reused);
    expect(said(await refresh(signedIn.refresh_token))).toBe(reused);
    await age(signedIn, 61);
    expect(said(await refresh(signedIn.refresh_token, 'key'))).toBe(reused);
    expect(await eventsOf(signedIn)).toContain('auth.refresh_reused');
  });

  it('what is kept for it does not show the tokens, and goes with the session', async () => {
    const signedIn = await api.signUp();
    const { body: next } = await refresh(signedIn.refresh_token, 'key');
    const dump = async () =>
      JSON.stringify(await server.db.sql`select * from auth.sessions where user_id = ${signedIn.user.id}`);
    expect(await dump()).toContain('retry_box');
    for (const token of [next.session_token, next.refresh_token, signedIn.refresh_token]) {
      expect(await dump()).not.toContain(token);
      expect(await dump()).not.toContain(Buffer.from(token).toString('base64'));
    }
    await api.send('POST', '/signout', { token: next.session_token });
    const [row] = await server.db.sql`
      select retry_key, retry_box, token_hash, refresh_hash from auth.sessions where user_id = ${signedIn.user.id}`;
    expect(row).toEqual({ retry_key: null, retry_box: null, token_hash: null, refresh_hash: null });
  });
});

describe('the length of a session', () => {
  it('is prolonged by a refresh, to 90 days after the sign-in at most', async () => {
    const signedIn = await api.signUp();
    const end = async () => {
      const [{ days }] = await server.db.sql<[{ days: number }]>`
        select extract(epoch from refresh_expires_at - created_at)::float8 / 86400 as days
        from auth.sessions where user_id = ${signedIn.user.id}`;
      return days;
    };
    const back = (days: number) => server.db.sql`
      update auth.sessions set created_at = created_at - ${days} * interval '1 day' where user_id = ${signedIn.user.id}`;
    expect(await end()).toBeCloseTo(30, 2);
    await back(29);
    const { body: second } = await refresh(signedIn.refresh_token);
    expect(await end()).toBeCloseTo(59, 2);
    await back(60);
    await refresh(second.refresh_token);
    expect(await end()).toBeCloseTo(90, 5);
  });

  it('of an impersonation is not', async () => {
    const { user, refresh_token } = await api.signUp();
    await server.db.sql`
      update auth.sessions set kind = 'impersonation', refresh_expires_at = now() + interval '1 hour'
      where user_id = ${user.id}`;
    const before = Date.now();
    const { body } = await refresh(refresh_token);
    expect((Date.parse(body.expires_at) - before) / 60_000).toBeCloseTo(15, 0);
    const [{ hours }] = await server.db.sql<[{ hours: number }]>`
      select extract(epoch from refresh_expires_at - now())::float8 / 3600 as hours
      from auth.sessions where user_id = ${user.id}`;
    expect(hours).toBeLessThanOrEqual(1);
  });
});
