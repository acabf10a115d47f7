import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { behaviour, type Api } from '../harness.ts';
import { openBrowser, type Shown } from './browser.ts';
import { messageTo, newEmail, newPhone, organized, tenantWithApp } from './people.ts';

const callback = 'https://reports.example.com/callback';
const unknownUid = 'xU4pYQm7nV2kR9sTbC1dE';

/** Returns a browser that a client has sent to the sign-in page. */
async function asked(api: Api, more: Record<string, string> = {}) {
  const tenant = await tenantWithApp(api);
  const ada = await tenant.withUser();
  const { id } = await tenant.plinth.auth.clients.create({
    body: { name: 'Reports', redirect_uris: [callback] },
  });
  const browser = openBrowser(tenant.anonymous());
  const query = new URLSearchParams({
    client_id: id,
    response_type: 'code',
    redirect_uri: callback,
    ...more,
  });
  const begin = async () => browser.follow(await browser.open(`/oauth2/authorize?${query.toString()}`));
  return { tenant, ada, browser, begin, signin: await begin() };
}

/** Returns the parameters that the client receives at the end. */
const told = ({ location = '' }: Shown) => Object.fromEntries(new URL(location).searchParams);

behaviour('auth Pages', (api) => {
  describe('an interaction', () => {
    it('200 with the page, 303 when the user signs in and consents', async () => {
      const { ada, browser, signin } = await asked(api);
      expect(signin.status).toBe(200);
      const fields = { identifier: ada.email, password: ada.password };
      const entered = await browser.submit(signin, '/signin', fields);
      expect(entered.status).toBe(303);
      const consented = await browser.submit(await browser.follow(entered), '/consent');
      expect(consented.status).toBe(303);
      expect(told(await browser.follow(consented))).toHaveProperty('code');
    });

    it('303 when the user goes on as who is signed in', async () => {
      const { ada, browser, begin, signin } = await asked(api, { prompt: 'select_account' });
      const fields = { identifier: ada.email, password: ada.password };
      await browser.follow(await browser.submit(signin, '/signin', fields));
      const chosen = await browser.submit(await begin(), '/account');
      expect(chosen.status).toBe(303);
      expect((await browser.follow(chosen)).text).toContain('/consent');
    });

    it('200 with the page for those who are new, 303 when they sign up', async () => {
      const { browser, signin } = await asked(api);
      const [, uid] = /interactions\/([\w-]+)\/signin/.exec(signin.text) ?? [];
      const signup = await browser.open(`/oauth2/interactions/${uid}/signup`);
      expect(signup.status).toBe(200);
      const fields = { email: newEmail(), password: 'seven brass wheels turning' };
      expect((await browser.submit(signup, '/signup', fields)).status).toBe(303);
    });

    it('303 when it is given up', async () => {
      const { browser, signin } = await asked(api);
      const left = await browser.submit(signin, '/abort');
      expect(left.status).toBe(303);
      expect(told(await browser.follow(left))).toMatchObject({ error: 'access_denied' });
    });

    it('303 when a code is texted, and when it is the second factor', async () => {
      const { tenant, ada, browser, signin } = await asked(api);
      const { mfa } = ada.plinth.auth;
      const phone = newPhone();
      const { recovery_codes } = await mfa.enroll({ body: { method: 'sms', phone } });
      const { code } = await messageTo(tenant, phone, 'mfa_code');
      await mfa.verify({ body: { method: 'sms', code: code ?? '000000' } });
      const fields = { identifier: ada.email, password: ada.password };
      const factor = await browser.follow(await browser.submit(signin, '/signin', fields));
      expect((await browser.submit(factor, '/mfa/send')).status).toBe(303);
      const answer = { method: 'recovery', code: recovery_codes[0]! };
      const entered = await browser.submit(factor, '/mfa', answer);
      expect(entered.status).toBe(303);
      expect((await browser.follow(entered)).text).toContain('/consent');
    });

    it('410 for a form that is sent once it is over', async () => {
      const { browser, signin } = await asked(api);
      const [, uid] = /interactions\/([\w-]+)\/signin/.exec(signin.text) ?? [];
      const [, csrf = ''] = /name="csrf" value="([^"]*)"/.exec(signin.text) ?? [];
      await browser.follow(await browser.submit(signin, '/abort'));
      const password = 'seven brass wheels turning';
      const forms = {
        abort: {},
        account: {},
        consent: {},
        mfa: { method: 'totp', code: '287082' },
        'mfa/send': {},
        signin: { identifier: newEmail(), password },
        signup: { email: newEmail(), password },
      };
      for (const [action, fields] of Object.entries(forms)) {
        const sent = await browser.post(`/oauth2/interactions/${uid}/${action}`, { ...fields, csrf });
        expect(sent.status, action).toBe(410);
      }
      expect((await browser.open(`/oauth2/interactions/${uid}/signup`)).status).toBe(410);
    });

    it('410 once it is over', async () => {
      const browser = openBrowser(api.tenant().anonymous());
      expect((await browser.open(`/oauth2/interactions/${unknownUid}`)).status).toBe(410);
    });
  });

  describe('the pages that messages lead to', () => {
    it('200 for a token that is good, 410 for another one', async () => {
      const tenant = await tenantWithApp(api);
      const { email, appId: app_id } = await tenant.withUser();
      await tenant.anonymous().plinth.auth.accounts.forgotPassword({ body: { email, app_id } });
      const tokens = {
        'verify-email': (await messageTo(tenant, email, 'verify_email')).token,
        'reset-password': (await messageTo(tenant, email, 'reset_password')).token,
      };
      const browser = openBrowser(tenant.anonymous());
      for (const [page, token] of Object.entries(tokens)) {
        const shown = await browser.open(`/pages/${page}?token=${token}`);
        expect(shown.status, page).toBe(200);
        const fields = page === 'verify-email' ? {} : { new_password: randomBytes(12).toString('hex') };
        expect((await browser.submit(shown, `/pages/${page}`, fields)).status).toBe(200);
        expect((await browser.submit(shown, `/pages/${page}`, fields)).status).toBe(410);
        expect((await browser.open(`/pages/${page}?token=${token}`)).status).toBe(410);
      }
    });

    it('invitation: 200 when it is read and declined', async () => {
      const { tenant, ada, orgId } = await organized(api);
      const email = newEmail();
      await ada.plinth.auth.invitations.create({ orgId, body: { email } });
      const { token } = await messageTo(tenant, email, 'invitation');
      const browser = openBrowser(tenant.anonymous());
      const shown = await browser.open(`/pages/invitation?token=${token}`);
      expect(shown.status).toBe(200);
      const declined = await browser.submit(shown, '/pages/invitation', { decision: 'decline' });
      expect(declined.status).toBe(200);
      const again = await browser.submit(shown, '/pages/invitation', { decision: 'decline' });
      expect(again.status).toBe(410);
      expect((await browser.open(`/pages/invitation?token=${token}`)).status).toBe(410);
    });

    it('forgot-password: 200 whoever has the address', async () => {
      const tenant = await tenantWithApp(api);
      const { appId } = await tenant.withUser();
      const browser = openBrowser(tenant.anonymous());
      const shown = await browser.open(`/pages/forgot-password?app_id=${appId}`);
      expect(shown.status).toBe(200);
      const sent = await browser.submit(shown, '/pages/forgot-password', { email: newEmail() });
      expect(sent.status).toBe(200);
    });
  });
});
