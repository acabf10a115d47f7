import { decodeJwt } from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DeviceAuthorization, IssuedClient } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { decided, deviceTools, grant_type, typed } from '../testing/devices.ts';
import { codeOf, enrolled } from '../testing/factors.ts';
import { password } from '../testing/index.ts';
import { Browser, fetchFrom, issuer, oauthTools } from '../testing/oauth.ts';
import { heading, formsOf, problemsOn, testBrowser } from '../testing/pages.ts';

let server: TestServer;
let api: ReturnType<typeof oauthTools>;
let television: IssuedClient;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env: { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' } });
  api = oauthTools(server);
  television = await device();
});
afterAll(() => server.close());
beforeEach(() => server.db.sql`delete from auth.device_tries`);

const { device, begin, poll, pollAtOnce, connect, forgetPolls } = deviceTools(
  () => server,
  () => television,
);

describe('a device', () => {
  it('gets tokens as a user for whom an outside client waits', async () => {
    const { user } = await api.signUp();
    const config = await oidc.discovery(new URL(issuer), television.client_id, undefined, oidc.None(), {
      execute: [oidc.allowInsecureRequests],
      [oidc.customFetch]: fetchFrom(server),
    });
    config[oidc.customFetch] = fetchFrom(server);
    const answer = await oidc.initiateDeviceAuthorization(config, { scope: 'openid email' });
    expect(answer).toMatchObject({
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/) as string,
      verification_uri: `${issuer}/oauth2/device`,
      verification_uri_complete: `${issuer}/oauth2/device?user_code=${answer.user_code}`,
      expires_in: 600,
      interval: 5,
    });
    const tokens = oidc.pollDeviceAuthorizationGrant(config, answer);
    const page = await connect(testBrowser(server), answer as DeviceAuthorization, user.email!);
    expect([page.status, heading(page)]).toEqual([200, 'Your device is connected']);
    const { access_token, id_token, scope } = await tokens;
    expect(scope).toBe('openid email');
    expect(decodeJwt(id_token!).sub).toBe(user.id);
    expect(decodeJwt(access_token)).toMatchObject({ sub: user.id, client_id: television.client_id });
    expect((await api.userinfo(access_token)).status).toBe(200);
  });

  it('is shown with its code and with what it asks for, before anybody signs in', async () => {
    const { user_code } = await begin(television, { scope: 'openid email reports:read' });
    const browser = testBrowser(server);
    // The spelling of the code does not matter.
    const page = await typed(browser, ` ${user_code.toLowerCase().replace('-', ' ')}`);
    expect([page.status, heading(page)]).toEqual([200, 'Connect Television?']);
    expect(page.text).toContain(user_code);
    expect(page.text).toContain('See your email address');
    expect(page.text).toContain('reports:read');
    expect(page.text).not.toContain('<script');
    expect(heading(await decided(browser, page, 'confirm'))).toBe('Sign in');
  });

  it('passes its code on in the address, which connects nothing by itself', async () => {
    const { verification_uri_complete, user_code, device_code } = await begin();
    const browser = testBrowser(server);
    const page = await browser.open(verification_uri_complete);
    expect([page.status, heading(page)]).toEqual([200, 'Connect a device']);
    expect(page.text).toContain(`value="${user_code}"`);
    expect(page.text).not.toContain('<script');
    const shown = await browser.submit(page, '/oauth2/device', { user_code });
    expect(heading(shown)).toBe('Connect Television?');
    expect((await poll({ device_code }))[1].error).toBe('authorization_pending');
  });

  it('waits for the second factor, too', async () => {
    const { user, enrollment } = await enrolled(api);
    const started = await begin();
    const browser = testBrowser(server);
    const signin = await decided(browser, await typed(browser, started.user_code), 'confirm');
    const factor = await browser.follow(
      await browser.submit(signin, '/signin', { identifier: user.email!, password }),
    );
    expect(heading(factor)).toBe('Confirm that it is you');
    expect((await poll(started))[1].error).toBe('authorization_pending');
    const fields = { method: 'totp', code: codeOf(enrollment, 1) };
    const consent = await browser.follow(await browser.submit(factor, '/mfa', fields));
    expect(heading(consent)).toBe('Allow Television?');
    expect(heading(await browser.follow(await browser.submit(consent, '/consent')))).toBe(
      'Your device is connected',
    );
    expect((await poll(started))[0]).toBe(200);
  });

  it('is told to wait, and to wait longer where it asks too soon', async () => {
    const started = await begin();
    const told = async () => (await pollAtOnce(started))[1].error;
    expect(await told()).toBe('authorization_pending');
    expect([await told(), await told()]).toEqual(['slow_down', 'slow_down']);
    const waits = await server.db.sql`
      select poll_seconds from auth.oidc where model = 'DeviceCode' and poll_seconds is not null and polled_at > now() - interval '5 seconds'`;
    expect(waits).toContainEqual({ poll_seconds: 15 });
    await server.db
      .sql`update auth.oidc set polled_at = now() - interval '10 seconds' where model = 'DeviceCode'`;
    expect(await told()).toBe('slow_down');
    await server.db
      .sql`update auth.oidc set polled_at = now() - interval '20 seconds' where model = 'DeviceCode'`;
    expect(await told()).toBe('authorization_pending');
  });

  it.each([
    ['on the page that shows it', 'abort'],
    ['on the page to sign in', '/abort'],
  ])('is told that the user refused %s', async (_where, how) => {
    const started = await begin();
    const browser = testBrowser(server);
    const page = await typed(browser, started.user_code);
    const end =
      how === 'abort'
        ? await decided(browser, page, 'abort')
        : await browser.follow(await browser.submit(await decided(browser, page, 'confirm'), how));
    expect([end.status, heading(end)]).toEqual([200, 'The device was not connected']);
    expect(await poll(started)).toMatchObject([400, { error: 'access_denied', code: 'BAD_REQUEST' }]);
  });

  it('is told that its code has expired', async () => {
    const started = await begin();
    await server.db.sql`
      update auth.oidc
      set payload = payload || jsonb_build_object('exp', extract(epoch from now() - interval '1 minute')::bigint)
      where model = 'DeviceCode'`;
    expect(await poll(started)).toMatchObject([400, { error: 'expired_token', code: 'BAD_REQUEST' }]);
    const page = await typed(testBrowser(server), started.user_code);
    expect([page.status, problemsOn(page)]).toEqual([
      400,
      { user_code: 'This code has expired. Ask your device for a new one.' },
    ]);
  });

  it('gets its tokens once, however many ask at once; they are refreshed and end like all others', async () => {
    const { user } = await api.signUp();
    const started = await begin();
    await connect(testBrowser(server), started, user.email!);
    const form = { grant_type, device_code: started.device_code, client_id: television.client_id };
    const answers = await Promise.all(
      Array.from({ length: 8 }, async () => {
        await forgetPolls(started);
        return api.post('/oauth2/token', form);
      }),
    );
    const good = answers.filter(({ status }) => status === 200);
    expect(good).toHaveLength(1);
    const { refresh_token, access_token } = good[0]!.body as { refresh_token: string; access_token: string };
    const again = { grant_type: 'refresh_token', refresh_token, client_id: television.client_id };
    expect((await api.post('/oauth2/token', again)).status).toBe(200);
    await api.send('POST', `/users/${user.id}/ban`, { body: {} });
    expect((await api.userinfo(access_token)).status).toBe(401);
  });

  it('of another client gets nothing, nor does one that may not', async () => {
    const started = await begin();
    const other = await device();
    expect((await poll(started, other))[1].error).toBe('invalid_grant');
    const { client_id } = await api.client({ public: true });
    const { status, body } = await api.post('/oauth2/device-authorization', { client_id });
    expect([status, body]).toMatchObject([400, { error: 'invalid_request', code: 'BAD_REQUEST' }]);
    const confidential = await device({ public: false });
    const wrong = { ...confidential, client_secret: 'sec_wrong' };
    const refused = await api.post('/oauth2/device-authorization', {}, wrong);
    expect([refused.status, refused.body]).toMatchObject([401, { error: 'invalid_client' }]);
    expect((await api.post('/oauth2/device-authorization', {}, confidential)).status).toBe(200);
  });

  it('goes on where somebody else signed in to the browser meanwhile', async () => {
    const [user, other, reports] = [await api.newUser(), await api.newUser(), await api.client()];
    const started = await begin();
    const browser = new Browser(server);
    const waits = (location: string) =>
      api.interactions.find(/interactions\/([\w-]+)$/.exec(location)![1]!, browser.cookieFor(location));
    const [form] = formsOf({ text: await (await browser.open(`${issuer}/oauth2/device`)).text() });
    const fields = { ...form!.carried, user_code: started.user_code, confirm: 'yes' };
    const asked = await browser.open(`${issuer}/oauth2/device`, fields);
    const waiting = await waits(asked.headers.get('location')!);
    await api.code(reports, other, {}, browser);
    let { location } = await api.interactions.signedIn(waiting!, user.id, ['pwd']);
    for (let next: string | null = location; next !== null;) {
      location = next.includes('/interactions/')
        ? await api.willing(user)((await waits(next))!, api.interactions)
        : next;
      next = (await browser.open(location)).headers.get('location');
    }
    const [status, { access_token }] = await poll(started);
    expect([status, decodeJwt(access_token!).sub]).toEqual([200, user.id]);
  });

  it('leaves no code of its own readable in the database', async () => {
    const { device_code, user_code } = await begin();
    const browser = testBrowser(server);
    await decided(browser, await typed(browser, user_code), 'confirm');
    const rows = await server.db.sql<{ text: string }[]>`select oidc::text as text from auth.oidc`;
    for (const { text } of rows) {
      expect(text).not.toContain(device_code);
      expect(text).not.toContain(user_code.replace('-', ''));
    }
  });
});
