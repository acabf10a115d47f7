import { describe, expect, it } from 'vitest';
import { behaviour, contract, type Api } from '../harness.ts';
import { openBrowser } from './browser.ts';
import { tenantWithApp } from './people.ts';

const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
const absentClient = 'client_01m7w6qgepfq9s8vanppxya299';
const unknownUid = 'xU4pYQm7nV2kR9sTbC1dE';

/** Creates a device that may request tokens. */
async function television(api: Api) {
  const tenant = await tenantWithApp(api);
  const { id } = await tenant.plinth.auth.clients.create({
    body: {
      name: 'Television',
      public: true,
      scopes: ['openid', 'profile'],
      grant_types: [grant_type],
    },
  });
  return { ...tenant.anonymous(), client_id: id };
}

contract('auth DeviceGrant', (api) => {
  const open = (path: string, init: RequestInit = {}) =>
    api
      .tenant()
      .anonymous()
      .fetch(`/auth/v1/auth/oauth2${path}`, { redirect: 'manual', ...init });
  const form = (fields: Record<string, string>) => ({ method: 'POST', body: new URLSearchParams(fields) });

  describe('authorize', () => {
    it('200 with both codes', async () => {
      const { plinth, client_id } = await television(api);
      const { data, response } = await plinth.auth.deviceGrant.authorize({ body: { client_id } }).response();
      expect(data).toMatchObject({ interval: 5 });
      expect(response.headers.get('cache-control')).toBe('no-store');
    });

    it('400 without a client', async () => {
      const nobody = api.tenant().anonymous();
      await nobody.refused(400, /./, ({ auth }) => auth.deviceGrant.authorize({ body: {} }));
    });

    it('401 for a client that is none', () =>
      api
        .tenant()
        .anonymous()
        .refused(401, 'invalid_client', ({ auth }) =>
          auth.deviceGrant.authorize({ body: { client_id: absentClient } }),
        ));
  });

  describe('the pages', () => {
    it('page: 200', async () => {
      const page = await open('/device');
      expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(await page.text()).toContain('<');
    });

    it('page: 400 for a code that is out of all bounds', async () => {
      expect((await open(`/device?user_code=${'x'.repeat(2_000)}`)).status).toBe(400);
    });

    it('send: 400 with a page for a form of no page', async () => {
      const answer = await open('/device', form({ xsrf: 'forged', user_code: 'WDJB-MJHT' }));
      if (api.target === 'server') expect(answer.status).toBe(400);
    });

    it('send: 415 for what is no form', async () => {
      const body = JSON.stringify({ xsrf: 'x', user_code: 'WDJB-MJHT' });
      const headers = { 'content-type': 'application/json' };
      expect((await open('/device', { method: 'POST', body, headers })).status).toBe(415);
    });

    it('resume: 400 with a page for an authorization that is over', async () => {
      const answer = await open(`/device/${unknownUid}`);
      if (api.target === 'server') {
        expect(answer.status).toBe(400);
        expect(await answer.text()).toContain('This sign-in has ended');
      }
    });
  });
});

behaviour('auth DeviceGrant', (api) => {
  it('200 and 303 on the way of a device from its code to its tokens', async () => {
    const tenant = await tenantWithApp(api);
    const ada = await tenant.withUser();
    const { id: client_id } = await tenant.plinth.auth.clients.create({
      body: { name: 'Television', public: true, grant_types: [grant_type] },
    });
    const visitor = tenant.anonymous();
    const { plinth } = visitor;
    const { device_code, user_code } = await plinth.auth.deviceGrant.authorize({ body: { client_id } });
    const browser = openBrowser(visitor);
    const page = await browser.open('/oauth2/device');
    const shown = await browser.submit(page, '/oauth2/device', { user_code });
    expect([shown.status, shown.text.includes(user_code)]).toEqual([200, true]);
    const fields = { user_code, confirm: 'yes' };
    const confirmed = await browser.submit(await browser.open('/oauth2/device'), '/oauth2/device', fields);
    expect(confirmed.status).toBe(303);
    const signin = await browser.follow(confirmed);
    const who = { identifier: ada.email, password: ada.password };
    // After the sign-in the user still has to consent.
    const consent = await browser.follow(await browser.submit(signin, '/signin', who));
    const connected = await browser.follow(await browser.submit(consent, '/consent'));
    expect([connected.status, connected.text.includes('connected')]).toEqual([200, true]);
    const body = { grant_type, device_code, client_id } as const;
    expect(await plinth.auth.oauth.token({ body })).toMatchObject({ token_type: 'Bearer' });
  });
});
