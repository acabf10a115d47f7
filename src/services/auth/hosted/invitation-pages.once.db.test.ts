import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { newEmail, newSlug } from '../testing/index.ts';
import { orgTools } from '../testing/orgs.ts';
import { heading, formsOf, problemsOn, testBrowser } from '../testing/pages.ts';
import { enrolled } from '../testing/factors.ts';

const env = { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' };
const password = 'correct horse battery staple';
const script = '<script>alert("1")</script>';

let server: TestServer;
let api: ReturnType<typeof orgTools>;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env });
  api = orgTools(server);
});
afterAll(() => server.close());

const browser = () => testBrowser(server);
const signin = async (email: string, pass = password) =>
  (
    await server.request('POST', '/auth/v1/auth/signin', {
      token: null,
      body: { email, password: pass, app_id: 'default' },
    })
  ).status;

/** The page that the newest message of the kind links to. */
async function linkOf(to: string, kind: 'reset_password' | 'verify_email' | 'invitation') {
  const path = { reset_password: 'reset-password', verify_email: 'verify-email', invitation: 'invitation' }[
    kind
  ];
  const { token } = await expectMessage(to, kind);
  return `/pages/${path}?token=${token!}`;
}
const expectMessage = (to: string, kind: 'reset_password' | 'verify_email' | 'invitation') =>
  expect
    .poll(() => api.message(to, kind).catch(() => undefined))
    .toBeDefined()
    .then(() => api.message(to, kind));

describe('an invitation', () => {
  const page = '/pages/invitation';

  async function invited(email: string, options: { name?: string; role?: string } = {}) {
    const owner = await api.signedIn();
    const org = await api.create({ name: options.name ?? 'Engines' }, api.as(owner));
    const body = { email, role: options.role ?? 'member' };
    await api.send('POST', `/organizations/${org.id}/invitations`, { ...api.as(owner), body });
    return { org, owner, link: await linkOf(email, 'invitation') };
  }
  const emailsOf = async (org: { id: string }) => {
    const { members } = (await api.send('GET', `/organizations/${org.id}/members`)) as {
      members: { user: { email: string } }[];
    };
    return members.map(({ user }) => user.email);
  };

  it('shows whose it is, and is not answered by opening it', async () => {
    const email = newEmail();
    const { org, link } = await invited(email, { name: `Engines ${script}` });
    const seen = await browser().open(link);
    await browser().open(link);
    expect(seen.status).toBe(200);
    expect(seen.text).not.toContain('<script>alert');
    expect(seen.text).toContain('Join Engines &lt;script&gt;');
    expect(seen.text).toContain(email);
    const { invitations } = (await api.send('GET', `/organizations/${org.id}/invitations`)) as {
      invitations: { status: string }[];
    };
    expect(invitations.map(({ status }) => status)).toEqual(['pending']);
  });

  it('is accepted with the password of the account, and only with it', async () => {
    const { user } = await api.signUp();
    const { org, link } = await invited(user.email!);
    const own = browser();
    const wrong = await own.submit(await own.open(link), page, { password: 'not the password' });
    expect([wrong.status, problemsOn(wrong)]).toEqual([400, { '': 'The password is not correct.' }]);
    expect(await emailsOf(org)).not.toContain(user.email);
    const done = await own.submit(wrong, page, { password });
    expect([done.status, heading(done)]).toEqual([200, 'You joined Engines']);
    expect(await emailsOf(org)).toContain(user.email);
    expect((await api.send('GET', `/users/${user.id}`)).email_verified).toBe(true);
    expect((await own.submit(wrong, page, { password })).status).toBe(410);
    expect((await own.open(link)).status).toBe(410);
  });

  it('opens an account for an address that has none', async () => {
    const email = newEmail();
    const { org, link } = await invited(email);
    const own = browser();
    const weak = await own.submit(await own.open(link), page, { name: 'Charles', password: 'password' });
    expect([weak.status, problemsOn(weak)]).toEqual([
      400,
      { password: 'The password is too common: choose several unrelated words.' },
    ]);
    expect(weak.text).toContain('value="Charles"');
    const done = await own.submit(weak, page, { name: 'Charles', password });
    expect(heading(done)).toBe('You joined Engines');
    expect(await emailsOf(org)).toContain(email);
    expect(await signin(email)).toBe(200);
    const { users } = (await api.send('GET', `/users?email=${encodeURIComponent(email)}`)) as {
      users: { name: string; email_verified: boolean }[];
    };
    expect(users).toMatchObject([{ name: 'Charles', email_verified: true }]);
    await expect(api.message(email, 'verify_email')).rejects.toThrow('no verify_email');
  });

  it('asks for the second factor of the account', async () => {
    const { user, codes } = await enrolled(api);
    const { org, link } = await invited(user.email!);
    const own = browser();
    const asked = await own.submit(await own.open(link), page, { password });
    expect([asked.status, heading(asked)]).toEqual([200, 'Confirm that it is you']);
    expect(await emailsOf(org)).not.toContain(user.email);
    const wrong = await own.submit(asked, page, { method: 'recovery', code: 'aaaa-aaaa-aaaa' });
    expect([wrong.status, problemsOn(wrong)['']]).toEqual([400, 'This code is not correct.']);
    const done = await own.submit(wrong, page, { method: 'recovery', code: codes[0]! });
    expect(heading(done)).toBe('You joined Engines');
    expect(await emailsOf(org)).toContain(user.email);
  });

  it('is declined without a password', async () => {
    const email = newEmail();
    const { org, link } = await invited(email);
    const own = browser();
    const shown = await own.open(link);
    const { carried } = formsOf(shown).find((form) => form.carried['decision'] === 'decline')!;
    const done = await own.post(page, carried);
    expect([done.status, heading(done)]).toEqual([200, 'You declined the invitation']);
    expect(await emailsOf(org)).toHaveLength(1);
    expect((await own.open(link)).status).toBe(410);
  });

  it('opens no account where the app takes no sign-ups', async () => {
    const app = await api.app({ slug: newSlug(), settings: { signup_enabled: false } });
    const at = api.at({ app });
    const org = await api.create({}, at);
    const email = newEmail();
    await api.send('POST', `/organizations/${org.id}/invitations`, {
      ...at,
      body: { email, role: 'member' },
    });
    const { messages } = (await api.send('GET', `/dev/outbox?to=${encodeURIComponent(email)}`, at)) as {
      messages: { token: string }[];
    };
    const own = browser();
    const shown = await own.open(`${page}?token=${messages[0]!.token}`);
    expect(shown.text).toContain('does not accept new accounts');
    const { carried } = formsOf(shown)[0]!;
    const seen = await own.post(page, { ...carried, decision: 'accept', password });
    expect([seen.status, problemsOn(seen)]).toEqual([400, { '': 'This app does not accept new accounts.' }]);
  });
});
