import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { IssuedClient, User } from '../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { newEmail } from './testing.ts';
import { adminTools } from './testing-admin.ts';
import { codeOf, enrolled, withPhone } from './testing-factors.ts';
import { formsOf, problemsOn, testBrowser, type Seen, type TestBrowser } from './testing-pages.ts';

const env = { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' };
const password = 'correct horse battery staple';
const script = '<script>alert("1")</script>';
const callback = 'https://reports.example.com/callback';

let server: TestServer;
let api: ReturnType<typeof adminTools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env });
  api = adminTools(server);
});
afterAll(() => server.close());

const heading = ({ text }: Seen) => /<h1>(.*?)<\/h1>/s.exec(text)?.[1];
const client = (body: object = {}, options: object = {}): Promise<IssuedClient> =>
  api.send('POST', '/oauth2/clients', {
    ...options,
    body: { name: 'Reports', redirect_uris: [callback], scopes: ['openid', 'profile', 'email'], ...body },
  });

/** Comes to the sign-in page from a client. */
async function asked(of?: IssuedClient, parameters: Record<string, string> = {}, own = testBrowser(server)) {
  const { id } = of ?? (await client());
  const query = new URLSearchParams({
    client_id: id,
    response_type: 'code',
    redirect_uri: callback,
    scope: 'openid profile email',
    state: 'here',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
    ...parameters,
  });
  const page = await own.follow(await own.open(`/oauth2/authorize?${query.toString()}`));
  return { own, page };
}

/** Signs in on the page, and goes on from there. */
const signIn = async (own: TestBrowser, page: Seen, { email }: Pick<User, 'email'>, pass = password) =>
  own.follow(await own.submit(page, '/signin', { identifier: email!, password: pass }));

/** What the client is told in the end. */
const told = ({ location }: Seen) => Object.fromEntries(new URL(location!).searchParams);
const events = (userId: string, type: string) =>
  server.db.sql<{ data: Record<string, unknown> }[]>`
    select data from auth.outbox where type = ${type} and data->>'user_id' = ${userId} order by id`;

describe('an answer sent twice at once', () => {
  /** What two answers lead to, each followed by itself. */
  const both = (own: TestBrowser, page: Seen, form: string, fields: Readonly<Record<string, string>> = {}) =>
    Promise.all([1, 2].map(async () => own.follow(await own.submit(page, form, fields))));
  const statuses = (seen: readonly Seen[]) => seen.map(({ status }) => status).sort((a, b) => a - b);

  it.each([1, 2, 3, 4, 5])('goes on once, and never fails: consent, round %i', async () => {
    const { user } = await api.signUp();
    const { own, page } = await asked();
    const [first, second] = statuses(await both(own, await signIn(own, page, user), '/consent'));
    expect(first).toBe(303);
    expect([400, 410]).toContain(second);
  });

  it.each([1, 2, 3])('goes on once, and never fails: sign-in, round %i', async () => {
    const { user } = await api.signUp();
    const { own, page } = await asked();
    const fields = { identifier: user.email!, password };
    const [first, second] = statuses(await both(own, page, '/signin', fields));
    expect(first).toBe(200);
    expect([400, 410]).toContain(second);
  });
});

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
    expect(problemsOn(wrong)).toEqual({ '': 'The email, username or password is not right.' });
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
      expect(text).not.toMatch(/<script|<b>/);
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
    expect([stranger.status, heading(stranger)]).toEqual([410, 'This sign-in is over']);
    await own.follow(await own.submit(page, '/abort'));
    const over = await own.open(page.url);
    expect([over.status, heading(over)]).toEqual([410, 'This sign-in is over']);
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
      expect.stringMatching(/^Too many tries\. Try again in \d seconds?\.$/),
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
      'The email, username or password is not right.',
    );
  });

  it('may be given up', async () => {
    const { own, page } = await asked();
    const done = await own.follow(await own.submit(page, '/abort'));
    expect(told(done)).toMatchObject({ error: 'access_denied', state: 'here' });
  });
});

describe('consent', () => {
  it('may be denied', async () => {
    const { user } = await api.signUp();
    const { own, page } = await asked();
    const done = await own.follow(await own.submit(await signIn(own, page, user), '/abort'));
    expect(told(done)).toMatchObject({ error: 'access_denied' });
  });

  it('cannot be given before a sign-in', async () => {
    const { own, page } = await asked();
    const { action, carried } = formsOf(page)[0]!;
    const seen = await own.post(action.replace(/signin$/, 'consent'), carried);
    expect([seen.status, seen.location]).toEqual([400, undefined]);
  });

  it('may be given as somebody else', async () => {
    const [one, other] = [await api.signUp(), await api.signUp()];
    const { own, page } = await asked();
    const consent = await signIn(own, page, one.user);
    const again = await own.open(`${consent.url}?switch_account=true`);
    expect(heading(again)).toBe('Sign in');
    const changed = await signIn(own, again, other.user);
    expect(heading(changed)).toBe('Allow Reports?');
    expect(changed.text).toContain(other.user.email!);
    expect(changed.text).not.toContain(one.user.email!);
  });
});

describe('a second factor', () => {
  /** Comes to the page that asks for it. */
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
    expect([wrong.status, problemsOn(wrong)]).toEqual([400, { '': 'This code is not right.' }]);
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
    await server.db.sql`update auth.text_sends set sent_at = '{}'`;
    const { own, mfa } = await waiting(signedUp.user);
    const sent = await own.follow(await own.submit(mfa, '/mfa/send'));
    expect(sent.text).toContain('We texted a code to your phone.');
    const { code } = await api.message(phone, 'mfa_code');
    expect(heading(await answer(own, sent, 'sms', code!))).toBe('Allow Reports?');
  });
});

describe('a sign-up', () => {
  const fields = [
    {
      key: 'company',
      label: `Company ${script}`,
      type: 'text',
      validation: { required: true, max_len: 100 },
    },
    { key: 'seats', label: 'Seats', type: 'number', order: 1, validation: { min: 1 } },
    { key: 'news', label: 'News', type: 'checkbox', order: 2 },
    { key: 'size', label: 'Size', type: 'select', order: 3, options: [{ label: 'Small', value: 's' }] },
  ];

  /** Comes to the page to sign up, of an app with a form. */
  async function joining(settings: object = {}) {
    const app = await api.app({ settings });
    const at = api.at({ app });
    await api.send('POST', '/forms', { ...at, body: { form_type: 'signup', active: true, fields } });
    const { own, page } = await asked(await client({}, at));
    return { app, own, page, signup: await own.open(`${page.url}/signup`) };
  }
  const join = async (own: TestBrowser, page: Seen, typed: Record<string, string>) =>
    own.follow(await own.submit(page, '/signup', typed));

  it('opens an account with the answers to the form, and signs in', async () => {
    const { app, own, signup } = await joining();
    expect(signup.text).toContain('Company &lt;script&gt;');
    const email = newEmail();
    const typed = { email, password, name: 'Ada', 'field.company': ' Engines ', 'field.seats': '7' };
    const consent = await join(own, signup, { ...typed, 'field.news': 'true' });
    expect(heading(consent)).toBe('Allow Reports?');
    const { users } = (await api.send(
      'GET',
      `/users?email=${encodeURIComponent(email)}`,
      api.at({ app }),
    )) as {
      users: User[];
    };
    expect(users).toMatchObject([
      { name: 'Ada', username: null, metadata: { company: 'Engines', seats: 7, news: true } },
    ]);
    expect((await api.send('GET', '/dev/outbox?kind=verify_email', api.at({ app }))).messages).toHaveLength(
      1,
    );
  });

  it('says at each field what is wrong, and keeps the others', async () => {
    const { own, signup } = await joining();
    const email = newEmail();
    const none = await join(own, signup, { email, password, 'field.company': '', 'field.size': 'xl' });
    expect([none.status, problemsOn(none)]).toEqual([
      400,
      { 'field.company': 'This is needed.', 'field.size': 'Must be one of the options.' },
    ]);
    expect(none.text).toContain(`value="${email}"`);
    expect(none.text).not.toContain(password);
    const typed = { email: 'ada', password, 'field.company': 'x' };
    expect(problemsOn(await join(own, signup, typed))).toEqual({ email: 'Must be an email address.' });
    const weak = { email, password: 'password', 'field.company': 'x' };
    expect(problemsOn(await join(own, signup, weak))).toEqual({ password: 'Is too common.' });
    const named = { email, password, username: '-a-', 'field.company': 'x' };
    expect(problemsOn(await join(own, signup, named))['username']).toContain('Must begin with a letter');
  });

  it('is refused for an address that has an account', async () => {
    const { own, signup, app } = await joining();
    const email = newEmail();
    await api.user({ email }, api.at({ app }));
    const seen = await join(own, signup, { email, password, 'field.company': 'x' });
    expect(problemsOn(seen)['email']).toContain('There is an account with this address');
  });

  it('names a member that the form does not ask for', async () => {
    const { own, signup } = await joining();
    const typed = { email: newEmail(), password, 'field.company': 'x', 'field.admin': 'true' };
    const seen = await join(own, signup, typed);
    expect([seen.status, problemsOn(seen)]).toEqual([400, { '': 'Field.admin: unknown.' }]);
  });

  it('is not there where the app takes none', async () => {
    const { page, signup, own } = await joining({ signup_enabled: false });
    expect(page.text).not.toContain('Create an account');
    expect(signup.status).toBe(400);
    const { carried } = formsOf(page)[0]!;
    const seen = await own.post(`${new URL(page.url).pathname}/signup`, {
      ...carried,
      email: newEmail(),
      password,
    });
    expect(problemsOn(seen)).toEqual({ '': 'New accounts are not open to sign-up.' });
  });

  it('goes on though the address has to be verified later', async () => {
    const { own, signup } = await joining({ require_verified_email: true });
    const typed = { email: newEmail(), password, 'field.company': 'x' };
    expect(heading(await join(own, signup, typed))).toBe('Allow Reports?');
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

describe('signing out', () => {
  it('asks first, in the look of the app, and ends the session', async () => {
    const { user } = await api.signUp();
    const of = await client({
      name: `Reports ${script}`,
      post_logout_redirect_uris: ['https://reports.example.com/bye'],
    });
    const { own, page } = await asked(of);
    await own.follow(await own.submit(await signIn(own, page, user), '/consent'));
    const query = new URLSearchParams({
      client_id: of.id,
      post_logout_redirect_uri: 'https://reports.example.com/bye',
    });
    const logout = await own.open(`/oauth2/logout?${query.toString()}`);
    expect([logout.status, heading(logout)]).toEqual([200, 'Sign out?']);
    expect(logout.text).not.toContain('<script');
    expect(logout.headers.get('content-security-policy')).toContain(
      "form-action 'self' https://reports.example.com;",
    );
    const done = await own.submit(logout, '/logout/confirm');
    expect([done.status, done.location]).toEqual([303, 'https://reports.example.com/bye']);
    expect(heading((await asked(of, {}, own)).page)).toBe('Sign in');
    const over = await own.open('/oauth2/logout/success');
    expect([over.status, heading(over)]).toEqual([200, 'You are signed out']);
  });

  it('shows a page where an authorization cannot go on', async () => {
    const { page } = await asked(undefined, { redirect_uri: 'https://evil.example.com/<script>' });
    expect([page.status, heading(page)]).toEqual([400, 'This request cannot be carried out']);
    expect(page.text).not.toContain('<script');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page.headers.get('cache-control')).toBe('no-store');
  });
});
