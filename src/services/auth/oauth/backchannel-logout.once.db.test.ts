import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLocalJWKSet, decodeJwt, jwtVerify, type JSONWebKeySet, type JWTPayload } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { IssuedClient, User } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { Browser, issuer, oauthTools } from '../testing/oauth.ts';
import { formsOf } from '../testing/pages.ts';

const password = 'correct horse battery staple';
const event = 'http://schemas.openid.net/event/backchannel-logout';

let server: TestServer;
let api: ReturnType<typeof oauthTools>;
let client: IssuedClient;
let receiver: Server;
let target: string;

/** Requests that the client got. */
const received: { type: string | undefined; body: string }[] = [];
/** The next responses of the client; 200 once the list is empty. */
let answers: number[] = [];

beforeAll(async () => {
  receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      received.push({ type: request.headers['content-type'], body });
      response.writeHead(answers.shift() ?? 200).end();
    });
  });
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
  target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/logout`;
  server = await testServer({ services: ['auth'] });
  api = oauthTools(server);
  client = await api.client({ backchannel_logout_uri: target, backchannel_logout_session_required: true });
});
afterAll(async () => {
  await server.close();
  receiver.close();
});
beforeEach(() => {
  received.length = 0;
  answers = [];
});

/** The claims of the next logout token, verified as a client does it. */
async function told(): Promise<JWTPayload> {
  await vi.waitFor(() => expect(received).not.toHaveLength(0), { timeout: 20_000, interval: 50 });
  const { type, body } = received.shift()!;
  expect(type).toBe('application/x-www-form-urlencoded');
  const keys = (await (await api.request(`${issuer}/.well-known/jwks.json`)).json()) as JSONWebKeySet;
  const { payload, protectedHeader } = await jwtVerify(
    new URLSearchParams(body).get('logout_token')!,
    createLocalJWKSet(keys),
    { issuer, audience: client.id, typ: 'logout+jwt', requiredClaims: ['iat', 'exp', 'jti'] },
  );
  expect(protectedHeader.alg).toBe('RS256');
  expect(payload['events']).toEqual({ [event]: {} });
  expect(payload).not.toHaveProperty('nonce');
  return payload;
}

/** A browser in which the user signed in to the client, and the client's id of the session. */
async function signedIn(user: Pick<User, 'id'>, to = client) {
  const browser = new Browser(server);
  const { id_token } = await api.tokens(to, user, {}, browser);
  return { browser, sid: decodeJwt(id_token!)['sid'] };
}

async function signOut(browser: Browser, query = ''): Promise<void> {
  const [form] = formsOf({ text: await (await browser.open(`${issuer}/oauth2/logout${query}`)).text() });
  await browser.open(`${issuer}/oauth2/logout/confirm`, { ...form!.carried });
}

const waiting = async () => (await server.db.sql`select from auth.logouts`).length;

describe('a client is told that a session ended', () => {
  const sessionsOf = async (id: string) =>
    (await api.send('GET', `/users/${id}/sessions`)) as { sessions: { id: string; kind: string }[] };

  const endings: Record<string, (user: User, browser: Browser) => Promise<unknown>> = {
    'on the page to sign out': (_user, browser) => signOut(browser),
    'because the user ended it from elsewhere': async ({ id, email }) => {
      const { session_token: token } = (await api.send('POST', '/signin', {
        token: null,
        body: { email, password, app_id: 'default' },
      })) as { session_token: string };
      const { sessions } = await sessionsOf(id);
      const hosted = sessions.find(({ kind }) => kind === 'hosted')!;
      await api.send('DELETE', `/sessions/${hosted.id}`, { token });
    },
    'because an administrator ended all': ({ id }) => api.send('POST', `/users/${id}/signout-all`),
    'because the user was banned': ({ id }) => api.send('POST', `/users/${id}/ban`, { body: {} }),
    'because the account was deleted': ({ id }) => api.send('DELETE', `/users/${id}`),
    'because the password was reset': async ({ email }) => {
      await api.send('POST', '/forgot-password', { token: null, body: { email, app_id: 'default' } });
      const { token } = await vi.waitFor(() => api.message(email!, 'reset_password'), { timeout: 20_000 });
      await api.send('POST', '/reset-password', {
        token: null,
        body: { token, new_password: `${password} 2` },
      });
    },
    'because the password was changed': async ({ email }) => {
      const { session_token: token } = (await api.send('POST', '/signin', {
        token: null,
        body: { email, password, app_id: 'default' },
      })) as { session_token: string };
      const body = { current_password: password, new_password: `${password} 2` };
      await api.send('POST', '/change-password', { token, body });
    },
    'because somebody else signed in to the browser': async (_user, browser) => {
      const other = await api.newUser();
      await api.code(client, other, { prompt: 'login' }, browser);
    },
  };

  it.each(Object.keys(endings))('%s', async (how) => {
    const user = await api.newUser({ password });
    const { browser, sid } = await signedIn(user);
    expect(sid).toBeTypeOf('string');
    await endings[how]!(user, browser);
    expect(await told()).toMatchObject({ sub: user.id, sid });
    await vi.waitFor(async () => expect(await waiting()).toBe(0), { timeout: 20_000 });
    expect(received).toEqual([]);
  });

  it('whose session it was, once for each browser', async () => {
    const user = await api.newUser();
    const [one, other] = [await signedIn(user), await signedIn(user)];
    expect(one.sid).not.toBe(other.sid);
    await api.send('POST', `/users/${user.id}/signout-all`);
    expect([(await told())['sid'], (await told())['sid']].sort()).toEqual([one.sid, other.sid].sort());
  });

  it('also where the user leaves that client alone, and not again when the rest ends', async () => {
    const user = await api.newUser();
    const { browser, sid } = await signedIn(user);
    const page = await (await browser.open(`${issuer}/oauth2/logout?client_id=${client.id}`)).text();
    const stay = formsOf({ text: page }).find(({ carried }) => carried['logout'] === undefined)!;
    await browser.open(`${issuer}/oauth2/logout/confirm`, { ...stay.carried });
    expect(await told()).toMatchObject({ sub: user.id, sid });
    await signOut(browser);
    expect(await waiting()).toBe(0);
  });
});

describe('nobody is told', () => {
  it('who has no address for it; their id tokens do not name the session', async () => {
    const user = await api.newUser();
    const silent = await api.client();
    expect((await signedIn(user, silent)).sid).toBeUndefined();
    await api.send('POST', `/users/${user.id}/signout-all`);
    expect(await waiting()).toBe(0);
  });
});

describe('the address of a client', () => {
  it('is one that may be reached', async () => {
    const guarded = await testServer({ services: ['auth'], allowPrivateTargets: false });
    try {
      const there = oauthTools(guarded);
      const { id } = await there.client({ backchannel_logout_uri: 'https://reports.example.com/logout' });
      for (const [backchannel_logout_uri, problem] of [
        ['http://reports.example.com/logout', 'must be an https URL'],
        ['https://127.0.0.1/logout', 'address not allowed'],
        ['https://169.254.169.254/latest', 'address not allowed'],
        ['https://ada:secret@reports.example.com/', 'must not carry a user name or password'],
        ['https://reports.example.com/#x', 'must not have a fragment'],
      ] as const) {
        const refused = [400, `backchannel_logout_uri: ${problem}`];
        const body = {
          name: 'Reports',
          redirect_uris: ['https://reports.example.com/'],
          backchannel_logout_uri,
        };
        expect(await there.refusal('POST', '/oauth2/clients', { body })).toEqual(refused);
        const change = { body: { backchannel_logout_uri } };
        expect(await there.refusal('PATCH', `/oauth2/clients/${id}`, change)).toEqual(refused);
      }
    } finally {
      await guarded.close();
    }
  });

  it('is there where it needs to know the session', async () => {
    const body = { backchannel_logout_uri: null };
    const refused = [400, 'backchannel_logout_session_required: needs a backchannel_logout_uri'];
    expect(await api.refusal('PATCH', `/oauth2/clients/${client.id}`, { body })).toEqual(refused);
    const plain = { backchannel_logout_uri: null, backchannel_logout_session_required: false };
    const { id } = await api.client({ backchannel_logout_uri: target });
    expect(await api.send('PATCH', `/oauth2/clients/${id}`, { body: plain })).toMatchObject(plain);
  });
});

describe('a logout is noted', () => {
  it('together with what ends it, so that a server which stops right then tells it later', async () => {
    const user = await api.newUser();
    const { sid } = await signedIn(user);
    answers = [503];
    await api.send('POST', `/users/${user.id}/signout-all`);
    await told();
    await vi.waitFor(
      async () => {
        const [row] = await server.db.sql<{ attempts: number }[]>`select attempts from auth.logouts`;
        expect(row).toEqual({ attempts: 1 });
      },
      { timeout: 20_000 },
    );
    await server.restart();
    await server.db.sql`update auth.logouts set next_attempt_at = now()`;
    expect(await told()).toMatchObject({ sub: user.id, sid });
    await vi.waitFor(async () => expect(await waiting()).toBe(0), { timeout: 20_000 });
  });
});
