import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { newEmail } from '../testing/index.ts';
import { orgTools } from '../testing/orgs.ts';
import { heading, formsOf, problemsOn, testBrowser, type Seen } from '../testing/pages.ts';

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

/** An app with its own branding, named so that missing escaping shows. */
async function branded(branding: object = {}) {
  const app = await api.app({ name: `App ${script}` });
  const body = { app_id: app.id, ...branding };
  await api.send('POST', '/branding', { ...api.at({ app }), body });
  return app;
}

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

describe('every page', () => {
  it('is kept from scripts, frames, caches and referrers', async () => {
    const { status, headers, text } = await browser().open('/pages/forgot-password');
    const nonce = /<style nonce="([^"]+)">/.exec(text)![1]!;
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'nonce-${nonce}'; img-src 'self' data:; form-action 'self'; ` +
        "frame-ancestors 'none'; base-uri 'none'",
    );
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(text).not.toMatch(/<script|\son[a-z]+=|\sstyle=/);
    const other = await browser().open('/pages/forgot-password');
    expect(other.text).not.toContain(nonce);
  });

  it('is in the look of its app, which cannot break out of it', async () => {
    const app = await branded({
      company_name: `Engines ${script}`,
      tagline: script,
      primary_color: '#ffee00',
      logo_url: 'https://cdn.example.com/logo.svg?a=1&b=2',
      font_family: 'Georgia',
      custom_css: 'h1 { letter-spacing: 0 }',
    });
    const { text } = await browser().open(`/pages/forgot-password?app_id=${app.id}`);
    expect(text).not.toContain('<script');
    expect(text).toContain('<title>Reset your password · Engines &lt;script&gt;');
    expect(text).toContain('src="https://cdn.example.com/logo.svg?a=1&amp;b=2"');
    expect(text).toContain('<p class="name">Engines &lt;script&gt;');
    expect(text).toMatch(/--primary: #ffee00; --primary-hover: \S+; --on-primary: #18181b/);
    expect(text).toContain('--font: Georgia, system-ui');
    expect(text.indexOf('h1{letter-spacing:0}')).toBeGreaterThan(text.indexOf('h1 { margin'));
    expect(text.match(/<\/style>/g)).toHaveLength(1);
  });

  it('without branding is named after its app', async () => {
    const app = await api.app({ name: `App ${script}` });
    const { text } = await browser().open(`/pages/forgot-password?app_id=${app.id}`);
    expect(text).not.toContain('<script');
    expect(text).toContain('App &lt;script&gt;');
  });

  it('that goes wrong is a page, too', async () => {
    const seen = await browser().open('/pages/forgot-password?app_id=<script>');
    expect([seen.status, seen.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
    expect(seen.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(seen.text).not.toContain('<script');
  });
});

describe('a form', () => {
  const path = '/pages/forgot-password';
  const email = 'ada@example.com';

  it('is taken from the page that was shown, and again after a mistake', async () => {
    const own = browser();
    const wrong = await own.submit(await own.open(path), path, { email: 'ada' });
    expect([wrong.status, problemsOn(wrong)]).toEqual([
      400,
      { email: 'The address must be an email address.' },
    ]);
    expect(wrong.text).toContain('value="ada"');
    expect(wrong.text).toMatch(/autofocus aria-describedby="email-problem" aria-invalid="true"/);
    expect(wrong.text).toContain('<title>Error: ');
    expect((await own.submit(wrong, path, { email })).status).toBe(200);
  });

  it('is refused without what the page carries', async () => {
    const own = browser();
    await own.open(path);
    const seen = await own.post(path, { email, app_id: 'default' });
    expect([seen.status, seen.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
    expect(heading(seen)).toBe('This page is out of date');
  });

  it.each<[string, (own: ReturnType<typeof browser>) => Promise<Seen>]>([
    [
      'another browser',
      async (own) => {
        await own.open(path);
        return own.submit(await browser().open(path), path, { email });
      },
    ],
    ['a browser without cookies', async (own) => own.submit(await browser().open(path), path, { email })],
    [
      'the page of another app',
      async (own) => {
        const app = await api.app();
        return own.submit(await own.open(path), path, { email, app_id: app.id });
      },
    ],
    [
      'another page',
      async (own) => {
        const { user } = await api.signUp();
        const verify = await own.open(await linkOf(user.email!, 'verify_email'));
        return own.post(path, { email, app_id: 'default', csrf: formsOf(verify)[0]!.carried['csrf']! });
      },
    ],
  ])('is refused from %s', async (_, send) => {
    const seen = await send(browser());
    expect([seen.status, heading(seen)]).toEqual([400, 'This page is out of date']);
  });

  it('names a member that nobody asked for', async () => {
    const own = browser();
    const seen = await own.submit(await own.open(path), path, { email, nmae: 'x' });
    expect([seen.status, seen.text]).toEqual([400, expect.stringContaining('nmae: unknown')]);
  });

  it('is bound to a cookie that no script reads', async () => {
    const own = browser();
    await own.open(path);
    expect(own.cookies.get('plinth_pages')!.line).toMatch(
      /^plinth_pages=[\w-]{32}; Path=\/auth\/v1\/auth; HttpOnly; SameSite=Lax$/,
    );
  });
});

describe('a forgotten password', () => {
  const forgot = '/pages/forgot-password';
  const reset = '/pages/reset-password';

  /** Requests a new password, and returns the page that the message links to. */
  async function asked(email: string) {
    const own = browser();
    const sent = await own.submit(await own.open(forgot), forgot, { email });
    expect(heading(sent)).toBe('Check your email');
    return { own, link: await linkOf(email, 'reset_password') };
  }

  it('is replaced by its page, once', async () => {
    const { user } = await api.signUp();
    const { own, link } = await asked(user.email!);
    const page = await own.open(link);
    expect(page.text).toContain(user.email!);
    const weak = await own.submit(page, reset, { new_password: 'password' });
    expect([weak.status, problemsOn(weak)]).toEqual([
      400,
      { new_password: 'The password is too common: choose several unrelated words.' },
    ]);
    expect(weak.text).not.toContain('value="password"');
    const short = await own.submit(weak, reset, { new_password: 'short' });
    expect(problemsOn(short)).toEqual({ new_password: 'The password must have at least 8 characters.' });
    const done = await own.submit(short, reset, { new_password: 'another horse altogether' });
    expect([done.status, heading(done)]).toEqual([200, 'Your password has been changed']);
    expect([await signin(user.email!), await signin(user.email!, 'another horse altogether')]).toEqual([
      401, 200,
    ]);
    expect((await own.submit(short, reset, { new_password: 'yet another horse' })).status).toBe(410);
    expect((await own.open(link)).status).toBe(410);
  });

  it('is not told to anybody who asks for an address that nobody has', async () => {
    const { user } = await api.signUp();
    const texts = [];
    for (const email of [user.email!, newEmail()]) {
      const own = browser();
      const { text } = await own.submit(await own.open(forgot), forgot, { email });
      texts.push(text.replaceAll(email, '…').replaceAll(/nonce="[^"]*"/g, ''));
    }
    expect(texts[0]).toBe(texts[1]);
  });

  it('is not replaced by opening the page', async () => {
    const { user } = await api.signUp();
    const { link } = await asked(user.email!);
    const pages = await Promise.all(Array.from({ length: 5 }, () => browser().open(link)));
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const own = browser();
    const done = await own.submit(await own.open(link), reset, { new_password: 'another horse altogether' });
    expect(done.status).toBe(200);
  });

  it.each(['rst_garbage', 'rst_000001003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf2TKNmV'])(
    'is not replaced with %s',
    async (token) => {
      const seen = await browser().open(`${reset}?token=${token}`);
      expect([seen.status, heading(seen)]).toEqual([410, 'This link no longer works']);
    },
  );
});

describe('an email address', () => {
  it('is verified by its page, once, and not by opening it', async () => {
    const { user, session_token: token } = await api.signUp();
    const link = await linkOf(user.email!, 'verify_email');
    const own = browser();
    const page = await own.open(link);
    await browser().open(link);
    const isVerified = async () => (await api.send('GET', '/me', { token })).email_verified as boolean;
    expect([page.text.includes(user.email!), await isVerified()]).toEqual([true, false]);
    const done = await own.submit(page, '/pages/verify-email');
    expect([done.status, heading(done), await isVerified()]).toEqual([
      200,
      'Your email address is verified',
      true,
    ]);
    expect((await own.submit(page, '/pages/verify-email')).status).toBe(410);
    expect((await own.open(link)).status).toBe(410);
  });
});

describe('limits', () => {
  it('by address hold on pages, too', async () => {
    const limited = await testServer({ services: ['auth'], env: { ...env, PLINTH_AUTH_RATE_LIMIT: 'on' } });
    try {
      const own = testBrowser(limited);
      const path = '/pages/forgot-password';
      const page = await own.open(path);
      const statuses: number[] = [];
      for (let tries = 0; tries < 5; tries += 1)
        statuses.push((await own.submit(page, path, { email: newEmail() })).status);
      const refused = await own.submit(page, path, { email: 'ada@example.com' });
      expect([...statuses, refused.status]).toEqual([200, 200, 200, 200, 200, 429]);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect([problemsOn(refused)[''], refused.text]).toEqual([
        expect.stringContaining('Try again in'),
        expect.stringContaining('value="ada@example.com"'),
      ]);
    } finally {
      await limited.close();
    }
  });

  it('hold on pages as they do for the API, and the page says when to try again', async () => {
    const { user } = await api.signUp();
    const owner = await api.signedIn();
    const org = await api.create({}, api.as(owner));
    const body = { email: user.email, role: 'member' };
    await api.send('POST', `/organizations/${org.id}/invitations`, { ...api.as(owner), body });
    const own = browser();
    let page = await own.open(await linkOf(user.email!, 'invitation'));
    for (let tries = 0; tries < 6; tries += 1)
      page = await own.submit(page, '/pages/invitation', { password: 'not the password' });
    const refused = await own.submit(page, '/pages/invitation', { password });
    expect([refused.status, problemsOn(refused)['']]).toEqual([
      429,
      expect.stringMatching(/^Too many attempts\. Try again in \d seconds?\.$/),
    ]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  });
});
