import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { User } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { newEmail, password } from '../testing/index.ts';
import { interactionTools, told } from '../testing/interactions.ts';
import { adminTools } from '../testing/admin.ts';
import { heading, formsOf, problemsOn, type Seen, type TestBrowser } from '../testing/pages.ts';

const env = { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' };
const script = '<script>alert("1")</script>';

let server: TestServer;
let api: ReturnType<typeof adminTools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env });
  api = adminTools(server);
});
afterAll(() => server.close());

const { client, asked, signIn } = interactionTools(() => server);

describe('an answer sent twice at once', () => {
  /** The results of two submissions, each followed separately. */
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

  /** Goes to the sign-up page of an app with a form. */
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
      { 'field.company': 'Answer this question.', 'field.size': 'The answer must be one of the options.' },
    ]);
    expect(none.text).toContain(`value="${email}"`);
    expect(none.text).not.toContain(password);
    const typed = { email: 'ada', password, 'field.company': 'x' };
    expect(problemsOn(await join(own, signup, typed))).toEqual({
      email: 'The address must be an email address.',
    });
    const weak = { email, password: 'password', 'field.company': 'x' };
    expect(problemsOn(await join(own, signup, weak))).toEqual({
      password: 'The password is too common: choose several unrelated words.',
    });
    const named = { email, password, username: '-a-', 'field.company': 'x' };
    expect(problemsOn(await join(own, signup, named))['username']).toContain(
      'The username must begin with a letter',
    );
  });

  it('is refused for an address that has an account', async () => {
    const { own, signup, app } = await joining();
    const email = newEmail();
    await api.user({ email }, api.at({ app }));
    const seen = await join(own, signup, { email, password, 'field.company': 'x' });
    expect(problemsOn(seen)['email']).toContain('There is already an account with this address');
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
    expect(problemsOn(seen)).toEqual({ '': 'This app does not accept new accounts.' });
  });

  it('goes on though the address has to be verified later', async () => {
    const { own, signup } = await joining({ require_verified_email: true });
    const typed = { email: newEmail(), password, 'field.company': 'x' };
    expect(heading(await join(own, signup, typed))).toBe('Allow Reports?');
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
    expect([page.status, heading(page)]).toEqual([400, 'This request cannot be completed']);
    expect(page.text).not.toContain('<script');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page.headers.get('cache-control')).toBe('no-store');
  });
});
