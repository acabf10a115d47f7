/** Pages on which there is nothing left to do have the look of their app, and lead on. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { adminTools } from '../testing/admin.ts';
import { interactionTools } from '../testing/interactions.ts';
import { heading, testBrowser, type Seen } from '../testing/pages.ts';

let server: TestServer;
let api: ReturnType<typeof adminTools>;
beforeAll(async () => {
  const env = { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' };
  server = await testServer({ services: ['auth'], env });
  api = adminTools(server);
});
afterAll(() => server.close());

const { client, asked, signIn } = interactionTools(() => server);
const used = 'rst_000001003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf2TKNmV';

/** The link at the end of a page: its text and where it leads. */
const wayOf = ({ text }: Seen) => /<a class="button" href="([^"]*)">([^<]*)<\/a>/.exec(text)?.slice(1);
const nameOn = ({ text }: Seen) => /<p class="name">([^<]*)<\/p>/.exec(text)?.[1];

describe('a link that no longer works', () => {
  it('is reported in the look of the app that it names, and leads to the address of the app', async () => {
    const app = await api.app({ name: 'Shop', settings: { home_url: 'https://shop.example.com/start' } });
    const body = { app_id: app.id, company_name: 'Corner Shop' };
    await api.send('POST', '/branding', { ...api.at({ app }), body });
    const seen = await testBrowser(server).open(
      `/pages/verify-email?token=vrf_${used.slice(4)}&app_id=${app.id}`,
    );
    expect([seen.status, heading(seen), nameOn(seen), wayOf(seen)]).toEqual([
      410,
      'This link no longer works',
      'Corner Shop',
      ['https://shop.example.com/start', 'Continue to Corner Shop'],
    ]);
  });

  it('leads to the only client of an app without an address, unless it registered itself', async () => {
    const app = await api.app({ name: 'Shop' });
    const { id } = await client({ name: 'Counter' }, api.at({ app }));
    const open = () =>
      testBrowser(server).open(`/pages/verify-email?token=vrf_${used.slice(4)}&app_id=${app.id}`);
    expect(wayOf(await open())).toEqual(['https://reports.example.com/', 'Continue to Counter']);
    await server.db.sql`update auth.clients set self_registered = true where id = ${id}`;
    const seen = await open();
    expect([wayOf(seen), seen.text.includes('You can close this page.')]).toEqual([undefined, true]);
  });

  it('leads to a new one where people can ask for it', async () => {
    const seen = await testBrowser(server).open(`/pages/reset-password?token=${used}&app_id=default`);
    expect(wayOf(seen)).toEqual(['/auth/v1/auth/pages/forgot-password?app_id=default', 'Ask for a new link']);
  });

  it('has the look of the first app if it names none', async () => {
    const seen = await testBrowser(server).open(`/pages/invitation?token=inv_${used.slice(4)}`);
    expect([seen.status, nameOn(seen)]).toEqual([410, 'Default app']);
  });
});

describe('a browser in which a sign-in began', () => {
  const forgot = '/pages/forgot-password';

  it('is led back to it for as long as it waits, and then to the client', async () => {
    const app = await api.app({ name: 'Shop' });
    const of = await client({ name: 'Counter' }, api.at({ app }));
    await client({ name: 'Stock' }, api.at({ app }));
    const { own, page } = await asked(of);
    const at = `${forgot}?app_id=${app.id}`;
    expect((await own.open(at)).text).toContain(
      `<a href="${new URL(page.url).pathname}">Back to sign-in</a>`,
    );
    await own.follow(await own.submit(page, '/abort'));
    expect((await own.open(at)).text).not.toContain('Back to sign-in');
    const over = await own.open(page.url);
    expect([over.status, nameOn(over), wayOf(over)]).toEqual([
      410,
      'Shop',
      ['https://reports.example.com/', 'Continue to Counter'],
    ]);
    const stranger = await own.open(`${forgot}?app_id=default`);
    expect(stranger.text).not.toContain('Counter');
  });

  it('finds its way after a new password', async () => {
    const { user } = await api.signUp();
    const { own, page } = await asked();
    await own.submit(await own.open(forgot), forgot, { email: user.email! });
    await expect.poll(() => api.message(user.email!, 'reset_password').catch(() => undefined)).toBeDefined();
    const { token } = await api.message(user.email!, 'reset_password');
    const reset = await own.open(`/pages/reset-password?token=${token!}`);
    const done = await own.submit(reset, '/pages/reset-password', {
      new_password: 'another horse altogether',
    });
    expect(wayOf(done)).toEqual([new URL(page.url).pathname, 'Back to sign-in']);
    expect((await signIn(own, page, user, 'another horse altogether')).status).toBe(200);
  });

  it.each(['client_x.y', 'client_01m7w6qgepfq9s8vanppxya2w6.uid', 'x', '.'])(
    'may remember nonsense: %s',
    async (value) => {
      const headers = { cookie: `plinth_origin=${value}` };
      const seen = await server.request('GET', `/auth/v1/auth${forgot}`, { token: null, headers });
      expect(seen.status).toBe(200);
    },
  );

  it('is signed out in the look of the app, and led to the client', async () => {
    const { user } = await api.signUp();
    const of = await client();
    const { own, page } = await asked(of);
    await own.follow(await own.submit(await signIn(own, page, user), '/consent'));
    const ask = await own.open(`/oauth2/logout?client_id=${of.id}`);
    const done = await own.follow(await own.submit(ask, '/confirm', { logout: 'yes' }));
    expect([heading(done), nameOn(done), wayOf(done)]).toEqual([
      'You are signed out',
      'Default app',
      ['https://reports.example.com/', 'Continue to Reports'],
    ]);
  });
});

describe('consent', () => {
  const logo_url = 'https://cdn.example.com/reports.svg';

  it('shows the logo and the host of the client', async () => {
    const { user } = await api.signUp();
    const { own, page } = await asked(await client({ logo_url }));
    const seen = await signIn(own, page, user);
    expect(seen.text).toContain(`<img src="${logo_url}" alt="" class="client">`);
    expect(seen.text).toContain('<strong>reports.example.com</strong>');
    expect(seen.headers.get('content-security-policy')).toContain(
      "img-src 'self' data: https://cdn.example.com",
    );
  });

  it('shows no logo that nobody vouches for', async () => {
    const { user } = await api.signUp();
    const of = await client({ logo_url });
    await server.db.sql`update auth.clients set self_registered = true where id = ${of.id}`;
    const { own, page } = await asked(of);
    const seen = await signIn(own, page, user);
    expect([heading(seen), seen.text.includes(logo_url)]).toEqual(['Allow Reports (unverified)?', false]);
  });

  it.each(['javascript:alert(1)', 'https://*.example.com/x', 'https://a@b.example/x'])(
    'takes no logo from %s',
    async (address) => {
      const body = {
        name: 'Reports',
        redirect_uris: ['https://reports.example.com/'],
        logo_url: address,
      };
      const [status, message] = await api.refusal('POST', '/oauth2/clients', { body });
      expect([status, message]).toEqual([400, expect.stringMatching(/^logo_url: /)]);
    },
  );
});
