/** However many concurrent attempts arrive, at however many processes, no more are judged than the limits allow. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import {
  childServer,
  testServer,
  type ChildServer,
  type TestResponse,
  type TestServer,
} from '../../../testing/server.ts';
import { codeOf, enrolled } from '../testing/factors.ts';
import { newEmail, newPhone, tools } from '../testing/index.ts';
import { wrongCodeOf } from '../testing/mfa.ts';
import { accountKey } from '../limits/throttle.ts';
import { messagesTo } from '../testing/messages.store.ts';

const password = 'correct horse battery staple';
// A single service would serve its paths without its name as a prefix.
const services = ['auth', 'keys'] as const;
const env = { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' };
const onServer = inject('engine') === 'postgres';

let server: TestServer;
let api: ReturnType<typeof tools>;
const children: ChildServer[] = [];
beforeAll(async () => {
  server = await testServer({ services, env, trustedProxy: ['127.0.0.1'] });
  await stopTime();
  api = tools(server);
});
afterAll(async () => {
  await Promise.all(children.map((child) => child.kill()));
  await server.close();
});

/** Stops the clock for throttles: no wait ends while hundreds of requests are processed, however long that takes. */
async function stopTime(): Promise<void> {
  const { sql } = server.db;
  await sql`create schema stopped`;
  await sql`create table stopped.clock as select clock_timestamp() as at`;
  await sql`
    create function stopped.clock_timestamp() returns timestamptz language sql as 'select at from stopped.clock'`;
  await sql`
    alter function auth.reserve_attempt(text, bytea[], bytea, integer[], jsonb, double precision)
    set search_path = stopped, pg_catalog`;
}

/** The processes to call in turn: this one, or two others on its database. */
async function twoProcesses(): Promise<readonly ChildServer[]> {
  const { url } = server.db.options;
  const more = { ...env, DATABASE_URL: url!, PLINTH_TRUSTED_PROXY: '127.0.0.1', PLINTH_CONTRACT: 'fast' };
  const start = () =>
    childServer({
      services,
      env: { ...more, PLINTH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') },
    });
  while (children.length < 2) children.push(await start());
  return children;
}

type Asked = Pick<TestServer, 'request'>;
const post = (to: Asked, path: string, body: object, ip = '203.0.113.7') =>
  to.request('POST', `/auth/v1/auth${path}`, {
    token: null,
    headers: { 'x-forwarded-for': ip },
    body,
  });
const manyNetworks = (at: number) => `10.${at >> 8}.${at & 255}.1`;

/** The number of judged and failed attempts: each leaves an event. */
async function judged(userId: string): Promise<number> {
  const [{ count }] = await server.db.sql<[{ count: number }]>`
    select count(*)::int as count from auth.outbox
    where type = 'auth.signin_failed' and data ->> 'user_id' = ${userId}`;
  return count;
}

async function wrongPasswords(asked: readonly Asked[]): Promise<void> {
  const { user } = await api.signUp();
  const body = { email: user.email, password: 'wrong', app_id: 'default' };
  const answers = await Promise.all(
    Array.from({ length: 500 }, (_, at) => post(asked[at % asked.length]!, '/signin', body)),
  );
  expect([...new Set(answers.map(({ status }) => status))].sort()).toEqual([401, 429]);
  expect(await judged(user.id)).toBe(5);
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
  const refused = answers.find(({ status }) => status === 429)!;
  expect(refused.body).toEqual({ error: 'too many attempts', code: 'RATE_LIMITED', reason: 'throttled' });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
}

/** Challenges of one account, started again and again by an attacker who knows its password. */
async function challenges(email: string, count: number): Promise<string[]> {
  const body = { email, password, app_id: 'default' };
  const begun = [];
  while (begun.length < count)
    begun.push(...(await Promise.all(Array.from({ length: 10 }, () => post(server, '/signin', body)))));
  return begun.map((answer) => answer.body.challenge_token as string);
}

async function wrongCodes(asked: readonly Asked[]): Promise<void> {
  const { user, enrollment } = await enrolled(api);
  const tokens = await challenges(user.email!, 80);
  const right = codeOf(enrollment, 1);
  const wrong = wrongCodeOf(enrollment);
  const send = (at: number, code: string) => {
    const body = { challenge_token: tokens[at % 80], method: 'totp', code };
    return post(asked[at % asked.length]!, '/mfa/challenge', body, manyNetworks(at));
  };
  const others = Array.from({ length: 399 }, (_, at) => send(at, wrong));
  // The right one is sent while others are in progress, after the first of them was told to wait.
  await Promise.any(
    others.map(async (one) => {
      if ((await one).status !== 429) throw new Error('judged');
    }),
  );
  expect((await send(399, right)).status).toBe(429);
  const statuses = (await Promise.all(others)).map(({ status }) => status);
  expect([...new Set(statuses)].sort()).toEqual([401, 429]);
  expect(statuses.filter((status) => status === 401)).toHaveLength(50);
  expect(await judged(user.id)).toBe(50);
}

describe('passwords', () => {
  it('five of 500 wrong ones are judged', () => wrongPasswords([server]));

  it.runIf(onServer)('five of 500 wrong ones over two processes', async () =>
    wrongPasswords(await twoProcesses()),
  );

  it('a program that signs in thirty times at once is not refused', async () => {
    const { user } = await api.signUp();
    const body = { email: user.email, password, app_id: 'default' };
    const answers = await Promise.all(Array.from({ length: 30 }, () => post(server, '/signin', body)));
    expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(200));
    const left = await server.db.sql`
      select failures from auth.throttles where account = ${accountKey('default', user.email!)}`;
    expect(left).toEqual([]);
  });

  it('what was not judged does not count: a hash that was never made, and a client that is gone', async () => {
    const { user } = await api.signUp();
    const gone = Array.from({ length: 20 }, () => {
      const client = new AbortController();
      const asked = fetch(`${server.url}/auth/v1/auth/signin`, {
        method: 'POST',
        signal: client.signal,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: user.email, password, app_id: 'default' }),
      });
      client.abort();
      return asked.catch(() => undefined);
    });
    await Promise.all(gone);
    const body = { email: user.email, password, app_id: 'default' };
    await expect.poll(async () => (await post(server, '/signin', body)).status).toBe(200);
  });
});

describe('codes of an authenticator, by whoever knows the password', () => {
  it('the right one last among 400 from everywhere does not sign in', () => wrongCodes([server]));

  it.runIf(onServer)('nor over two processes', async () => wrongCodes(await twoProcesses()));
});

describe('codes of an enrollment', () => {
  it('are throttled, without a word about a sign-in, and without keeping the user from it', async () => {
    const { user, session_token: token } = await api.signUp();
    const enrollment = await api.send('POST', '/mfa/enroll', { token, body: {} });
    const verify = (code: string) =>
      server.request('POST', '/auth/v1/auth/mfa/verify', { token, body: { code } });
    const wrong = wrongCodeOf(enrollment);
    const answers = await Promise.all(Array.from({ length: 100 }, () => verify(wrong)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401).length).toBe(5);
    expect(statuses.filter((status) => status !== 401 && status !== 429)).toEqual([]);
    expect(await judged(user.id)).toBe(0);
    const body = { email: user.email, password, app_id: 'default' };
    expect((await post(server, '/signin', body)).status).toBe(200);
    await server.db.sql`delete from auth.throttles`;
    expect((await verify(codeOf(enrollment))).status).toBe(200);
  });
});

describe('proofs in other places than a sign-in', () => {
  /** Sends a hundred wrong ones at once, from one network; five are judged, and then the right one has to wait as well. */
  async function fiveOfAHundred(
    userId: string,
    prove: (at: number, right: boolean) => Promise<TestResponse>,
  ) {
    const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => prove(at, false)));
    const statuses = answers.map(({ status }) => status);
    expect([...new Set(statuses)].sort()).toEqual([401, 429]);
    expect(statuses.filter((status) => status === 401)).toHaveLength(5);
    expect(await judged(userId)).toBe(5);
    expect((await prove(100, true)).body).toMatchObject({ code: 'RATE_LIMITED', reason: 'throttled' });
    await server.db.sql`delete from auth.throttles`;
    expect((await prove(100, true)).status).toBe(200);
  }
  const asUser = (path: string, token: string, body: object) =>
    server.request('POST', `/auth/v1/auth${path}`, { token, body });

  it('POST /me/reauthenticate: the password', async () => {
    const { user, session_token: token } = await api.signUp();
    await fiveOfAHundred(user.id, (_, right) =>
      asUser('/me/reauthenticate', token, { password: right ? password : 'wrong' }),
    );
  });

  it('POST /me/reauthenticate: a code of an authenticator, and a recovery code', async () => {
    const { user, session_token: token, enrollment, codes } = await enrolled(api);
    await fiveOfAHundred(user.id, (at, right) => {
      const [method, wrong] = at % 2 ? ['recovery', 'aaaa-aaaa-aaaa'] : ['totp', wrongCodeOf(enrollment)];
      const code = right ? codeOf(enrollment, 1) : wrong;
      return asUser('/me/reauthenticate', token, { method: right ? 'totp' : method, code });
    });
    expect((await asUser('/me/reauthenticate', token, { method: 'recovery', code: codes[0] })).status).toBe(
      200,
    );
  });

  it('POST /change-password: the current password', async () => {
    const { user, session_token: token } = await api.signUp();
    const body = { new_password: 'seven brass wheels turning' };
    await fiveOfAHundred(user.id, (_, right) =>
      asUser('/change-password', token, { ...body, current_password: right ? password : 'wrong' }),
    );
  });

  it('POST /mfa/challenge: recovery codes, over many challenges', async () => {
    const { user, codes } = await enrolled(api);
    const tokens = await challenges(user.email!, 40);
    await fiveOfAHundred(user.id, (at, right) => {
      const code = right ? codes[0] : 'aaaa-aaaa-aaaa';
      return post(server, '/mfa/challenge', { challenge_token: tokens[at % 40], method: 'recovery', code });
    });
  });
});

describe('codes in texts', () => {
  it('five of a hundred from everywhere are compared', async () => {
    const phone = newPhone();
    await post(server, '/phone/send-code', { phone });
    const code = (await messagesTo(server.db.sql, phone)).at(-1)!.code!;
    const wrong = code === '000000' ? '111111' : '000000';
    await Promise.all(
      Array.from({ length: 100 }, (_, at) =>
        post(server, '/phone/verify', { phone, code: wrong }, manyNetworks(at)),
      ),
    );
    await server.db.sql`delete from auth.throttles`;
    const [{ attempts }] = await server.db.sql<[{ attempts: number }]>`
      select attempts from auth.one_time where purpose = 'phone_signin' order by created_at desc limit 1`;
    expect(attempts).toBe(5);
    expect((await post(server, '/phone/verify', { phone, code })).status).toBe(401);
  });
});

describe('a clock of the database that was set back', () => {
  it('locks nobody for longer than the rule says', async () => {
    const email = newEmail();
    const body = { email, password, app_id: 'default' };
    for (let n = 0; n < 5; n += 1) await post(server, '/signin', body);
    await server.db.sql`update auth.throttles set last_at = now() + interval '1 hour'`;
    const waiting = await post(server, '/signin', body);
    expect([waiting.status, waiting.headers.get('retry-after')]).toEqual([429, '1']);
    await server.db.sql`update auth.throttles set last_at = last_at - interval '1 second'`;
    expect((await post(server, '/signin', body)).status).toBe(401);
  });
});
