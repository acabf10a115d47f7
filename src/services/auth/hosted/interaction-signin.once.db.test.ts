import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { User } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { newEmail, password } from '../testing/index.ts';
import { interactionTools, told } from '../testing/interactions.ts';
import { adminTools } from '../testing/admin.ts';
import { codeOf, enrolled, withPhone } from '../testing/factors.ts';
import { heading, formsOf, problemsOn, testBrowser, type Seen, type TestBrowser } from '../testing/pages.ts';

const env = { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' };
const script = '<script>alert("1")</script>';

let server: TestServer;
let api: ReturnType<typeof adminTools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env });
  api = adminTools(server);
});
afterAll(() => server.close());

const { client, asked, signIn, events } = interactionTools(() => server);

describe('a sign-in', () => {
  it('leads through consent back to the client', async () => {
    const { user } = await api.signUp();
    const { own, page } = await asked();
    expect([page.status, heading(page)]).toEqual([200, 'Sign in']);
    const consent = await signIn(own, page, user);
    expect([consent.status, heading(consent)]).toEqual([200, 'Allow Reports?']);
    expect(consent.text).toContain(user.email!);
    expect(consent.text).toContain('See your email address');
    const done = await own.follow(await own.submit(consent, '/consent'));
    expect(done.location).toMatch(/^https:\/\/reports\.example\.com\/callback\?/);
    expect(told(done)).toMatchObject({ code: expect.any(String), state: 'here' });
    expect(await events(user.id, 'auth.signin')).toMatchObject([
      {},
      { data: { session_id: null, method: 'password' } },
    ]);
    const { sessions } = (await api.send('GET', `/users/${user.id}/sessions`)) as {
      sessions: { kind: string }[];
    };
    expect(sessions.map(({ kind }) => kind)).toContain('hosted');
  });

  it('by username is one, too', async () => {
    const { user } = await api.signUp({ username: `U${newEmail().slice(5, 15)}` });
    const { own, page } = await asked();
    const consent = await own.follow(
      await own.submit(page, '/signin', { identifier: user.username!.toLowerCase(), password }),
    );
    expect(heading(consent)).toBe('Allow Reports?');
  });

  it('allows forms to lead to the client, and nowhere else', async () => {
    const { page } = await asked();
    expect(page.headers.get('content-security-policy')).toContain(
      "form-action 'self' https://reports.example.com;",
    );
  });

  it('keeps the name after a wrong password, and tells nobody which of the two was wrong', async () => {
    const { user } = await api.signUp();
    const { own, page } = await asked();
    const wrong = await signIn(own, page, user, 'not the password');
    const unknown = await signIn(own, page, { email: newEmail() }, 'not the password');
    expect([wrong.status, unknown.status]).toEqual([400, 400]);
    expect(problemsOn(wrong)).toEqual({ '': 'The email, username or password is not correct.' });
    expect(problemsOn(unknown)).toEqual(problemsOn(wrong));
    expect(wrong.text).toContain(`value="${user.email!}"`);
    expect(wrong.text).not.toContain('not the password');
    expect(heading(await signIn(own, wrong, user))).toBe('Allow Reports?');
  });

  it('escapes what was typed, and what client and scopes are called', async () => {
    const named = await client({ name: `Reports ${script}`, scopes: ['openid', "x:<b>'"] });
    const { user } = await api.signUp();
    const { own, page } = await asked(named, { scope: "openid x:<b>'", login_hint: script });
    const wrong = await own.submit(page, '/signin', { identifier: `"><b>${script}`, password });
    const consent = await signIn(own, wrong, user);
    expect(consent.text).toContain('x:&lt;b&gt;&#39;');
    for (const { text } of [page, wrong, consent]) {
      expect(text).not.toMatch(/<script>alert|<b>/);
      expect(text).toContain('Reports &lt;script&gt;');
    }
  });

  it('is refused without what the page carries', async () => {
    const { own, page } = await asked();
    const { action } = formsOf(page)[0]!;
    const seen = await own.post(action, { identifier: 'ada@example.com', password });
    expect([seen.status, heading(seen)]).toEqual([400, 'This page is out of date']);
    const { page: others } = await asked(undefined, {}, testBrowser(server));
    const { csrf } = formsOf(others)[0]!.carried;
    const foreign = await own.post(action, { identifier: 'ada@example.com', password, csrf: csrf! });
    expect([foreign.status, heading(foreign)]).toEqual([400, 'This page is out of date']);
  });

  it('is not shown to another browser, nor once it is over', async () => {
    const { own, page } = await asked();
    const stranger = await testBrowser(server).open(page.url);
    expect([stranger.status, heading(stranger)]).toEqual([410, 'This sign-in has ended']);
    await own.follow(await own.submit(page, '/abort'));
    const over = await own.open(page.url);
    expect([over.status, heading(over)]).toEqual([410, 'This sign-in has ended']);
  });

  it('of somebody who is banned, or has to verify their address, says so', async () => {
    const { user } = await api.signUp();
    await api.send('POST', `/users/${user.id}/ban`, { body: { reason: 'spam' } });
    const { own, page } = await asked();
    expect(problemsOn(await signIn(own, page, user))).toEqual({ '': 'This account is suspended.' });

    const app = await api.app({ settings: { require_verified_email: true } });
    const unverified = await api.signUp({ app_id: app.id });
    const there = await asked(await client({}, api.at({ app })));
    const refused = await signIn(there.own, there.page, unverified.user);
    expect(problemsOn(refused)['']).toContain('Verify your email address first');
  });

  it('is throttled as the API is, with both counted together', async () => {
    const { user } = await api.signUp();
    const { own, page } = await asked();
    for (let tries = 0; tries < 6; tries += 1) await signIn(own, page, user, 'not the password');
    const refused = await signIn(own, page, user);
    expect([refused.status, problemsOn(refused)['']]).toEqual([
      429,
      expect.stringMatching(/^Too many attempts\. Try again in \d seconds?\.$/),
    ]);
    const body = { email: user.email, password, app_id: 'default' };
    expect(await api.refusal('POST', '/signin', { token: null, body })).toEqual([
      429,
      'too many attempts',
      'throttled',
    ]);
  });

  it('of another app is none', async () => {
    const { user } = await api.signUp();
    const app = await api.app();
    const { own, page } = await asked(await client({}, api.at({ app })));
    expect(problemsOn(await signIn(own, page, user))['']).toBe(
      'The email, username or password is not correct.',
    );
  });

  it('may be given up', async () => {
    const { own, page } = await asked();
    const done = await own.follow(await own.submit(page, '/abort'));
    expect(told(done)).toMatchObject({ error: 'access_denied', state: 'here' });
  });
});

describe('a second factor', () => {
  /** Goes to the page that asks for the second factor. */
  async function waiting(user: User) {
    const { own, page } = await asked();
    const mfa = await signIn(own, page, user);
    expect([mfa.status, heading(mfa)]).toEqual([200, 'Confirm that it is you']);
    return { own, mfa };
  }
  const answer = async (own: TestBrowser, page: Seen, method: string, code: string) =>
    own.follow(await own.submit(page, '/mfa', { method, code }));

  it('is asked for, and a wrong code is not taken', async () => {
    const { user, enrollment, codes } = await enrolled(api);
    const { own, mfa } = await waiting(user);
    const wrong = await answer(own, mfa, 'recovery', 'aaaa-aaaa-aaaa');
    expect([wrong.status, problemsOn(wrong)]).toEqual([400, { '': 'This code is not correct.' }]);
    const consent = await answer(own, wrong, 'totp', codeOf(enrollment, 1));
    expect(heading(consent)).toBe('Allow Reports?');

    const second = await waiting(user);
    expect(heading(await answer(second.own, second.mfa, 'recovery', codes[0]!))).toBe('Allow Reports?');
  });

  it('keeps its challenge in the browser alone, below its page', async () => {
    const { user } = await enrolled(api);
    const { own, mfa } = await waiting(user);
    const { line, value } = own.cookies.get('plinth_challenge')!;
    expect(line).toMatch(
      new RegExp(
        `^plinth_challenge=chall_\\w{55}; Path=${new URL(mfa.url).pathname}; HttpOnly; SameSite=Lax; Max-Age=300$`,
      ),
    );
    expect(mfa.text).not.toContain(value);
  });

  it('begins again after five wrong codes', async () => {
    const { user } = await enrolled(api);
    const { own, mfa } = await waiting(user);
    const seen: (string | undefined)[] = [];
    for (let tries = 0; tries < 5; tries += 1)
      seen.push(heading(await answer(own, mfa, 'recovery', 'aaaa-aaaa-aaaa')));
    expect(seen).toEqual([...Array<string>(4).fill('Confirm that it is you'), 'Sign in']);
    expect(own.cookies.has('plinth_challenge')).toBe(false);
  });

  it('is not skipped by going on without it', async () => {
    const { user } = await enrolled(api);
    const { own, mfa } = await waiting(user);
    const { uid } = /interactions\/(?<uid>[\w-]+)/.exec(mfa.url)!.groups!;
    expect((await own.open(`/oauth2/authorize/${uid!}`)).text).not.toContain('code=');
    const { carried } = formsOf(mfa).find(({ action }) => action.endsWith('/abort'))!;
    const consent = await own.post(`/oauth2/interactions/${uid!}/consent`, carried);
    expect(consent.location).toBeUndefined();
  });

  it('may be a text message, sent when it is asked for', async () => {
    const signedUp = await enrolled(api);
    const phone = await withPhone(api, signedUp);
    await server.db.sql`delete from auth.quotas`;
    const { own, mfa } = await waiting(signedUp.user);
    const sent = await own.follow(await own.submit(mfa, '/mfa/send'));
    expect(sent.text).toContain('We texted a code to your phone.');
    const { code } = await api.message(phone, 'mfa_code');
    expect(heading(await answer(own, sent, 'sms', code!))).toBe('Allow Reports?');
  });
});

describe('a known device', () => {
  it('has a cookie by which its owner gets in while others guess', async () => {
    const { user } = await api.user({ password }).then((made) => ({ user: made }));
    const { own, page } = await asked();
    await signIn(own, page, user);
    expect(own.cookies.get('plinth_device')!.line).toMatch(
      /^plinth_device=dvt_\w{55}; Path=\/auth\/v1\/auth; HttpOnly; SameSite=Lax; Max-Age=31536000$/,
    );
  });
});
