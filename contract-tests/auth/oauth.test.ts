import { describe, expect, it } from 'vitest';
import { behaviour, contract, type Api } from '../harness.ts';
import { openBrowser } from './browser.ts';
import { consented } from './consented.ts';
import { tenantWithApp } from './people.ts';

const callback = 'https://reports.example.com/callback';
const absentClient = 'client_01m7w6qgepfq9s8vanppxya299';
const unknownUid = 'xU4pYQm7nV2kR9sTbC1dE';

/** Creates a client that acts for itself, with its credentials. */
async function machine(api: Api) {
  const tenant = await tenantWithApp(api);
  const { id, client_secret } = await tenant.plinth.auth.clients.create({
    body: { name: 'Nightly', grant_types: ['client_credentials'], scopes: ['reports:read'] },
  });
  const client = { client_id: id, client_secret: client_secret ?? '' };
  const authorization = `Basic ${btoa(`${id}:${client_secret}`)}`;
  return { ...tenant.anonymous(), client, options: { headers: { authorization } } };
}

/** A client that signs users in. */
async function website(api: Api) {
  const tenant = await tenantWithApp(api);
  const { id, client_secret } = await tenant.plinth.auth.clients.create({
    body: { name: 'Reports', redirect_uris: [callback] },
  });
  const authorization = `Basic ${btoa(`${id}:${client_secret}`)}`;
  return { ...tenant.anonymous(), client_id: id, options: { headers: { authorization } } };
}

const forItself = { grant_type: 'client_credentials' } as const;

contract('auth OAuth', (api) => {
  const open = (path: string, init: RequestInit = {}) =>
    api
      .tenant()
      .anonymous()
      .fetch(`/auth/v1/auth/oauth2${path}`, { redirect: 'manual', ...init });

  describe('token', () => {
    it('200 with an access token', async () => {
      const { plinth, client } = await machine(api);
      const answer = await plinth.auth.oauth.token({ body: { ...forItself, ...client } });
      expect(answer).toMatchObject({ token_type: 'Bearer' });
    });

    it('400 for what the client may not do', async () => {
      const { options, ...client } = await website(api);
      await client.refused(400, /./, ({ auth }) => auth.oauth.token({ body: forItself }, options));
    });

    it('401 for a client that is none', () =>
      api
        .tenant()
        .anonymous()
        .refused(401, 'invalid_client', ({ auth }) =>
          auth.oauth.token({ body: { ...forItself, client_id: absentClient, client_secret: 'wrong' } }),
        ));
  });

  describe('introspect and revoke', () => {
    it('200 with what a token is good for, and when it is over', async () => {
      const { plinth, client, options } = await machine(api);
      const { access_token } = await plinth.auth.oauth.token({ body: { ...forItself, ...client } });
      const token = access_token;
      const active = api.target === 'server';
      expect(await plinth.auth.oauth.introspect({ body: { token } }, options)).toMatchObject({ active });
      await plinth.auth.oauth.revoke({ body: { token } }, options);
    });

    it('introspect: 401 without a client', () =>
      api
        .tenant()
        .anonymous()
        .refused(401, 'invalid_client', ({ auth }) => auth.oauth.introspect({ body: { token: 'x' } })));

    it('introspect: 400 without a token', async () => {
      const { options, ...client } = await machine(api);
      await client.refused(400, 'invalid_request', ({ auth }) =>
        auth.oauth.introspect({ body: {} as { token: string } }, options),
      );
    });
  });

  describe('par', () => {
    it('201 with what stands for the request', async () => {
      const { plinth, options } = await website(api);
      const body = { response_type: 'code', redirect_uri: callback };
      const { request_uri } = await plinth.auth.oauth.par({ body }, options);
      expect(request_uri).toMatch(/^urn:/);
    });

    it('400 for a redirect URI that is not the client’s', async () => {
      const { options, ...client } = await website(api);
      await client.refused(400, /./, ({ auth }) =>
        auth.oauth.par(
          { body: { response_type: 'code', redirect_uri: 'https://evil.example.com/' } },
          options,
        ),
      );
    });

    it('401 without a client', () =>
      api
        .tenant()
        .anonymous()
        .refused(401, 'invalid_client', ({ auth }) =>
          auth.oauth.par({
            body: { response_type: 'code', client_id: absentClient, client_secret: 'wrong' },
          }),
        ));
  });

  describe('userinfo and postUserinfo', () => {
    it('401 for a token that nobody issued', async () => {
      const client = api.tenant().anonymous();
      const options = { headers: { authorization: 'Bearer no-such-token' } };
      await client.refused(401, /./, ({ auth }) => auth.oauth.userinfo({}, options));
      await client.refused(401, /./, ({ auth }) =>
        auth.oauth.postUserinfo({ body: { access_token: 'no-such-token' } }),
      );
    });

    it('403 without the scope openid', async () => {
      const { plinth, client, ...caller } = await machine(api);
      const { access_token } = await plinth.auth.oauth.token({ body: { ...forItself, ...client } });
      const options = { headers: { authorization: `Bearer ${access_token}` } };
      await caller.refused(403, 'insufficient_scope', ({ auth }) => auth.oauth.userinfo({}, options));
      await caller.refused(403, 'insufficient_scope', ({ auth }) =>
        auth.oauth.postUserinfo({ body: { access_token } }),
      );
    });
  });

  describe('authorize', () => {
    it('303 to where the user signs in', async () => {
      const { client_id } = await website(api);
      const query = new URLSearchParams({ client_id, response_type: 'code', redirect_uri: callback });
      // Otherwise the mock would answer with the page for an answer that is sent as a form.
      const headers = { prefer: 'code=303' };
      const response = await open(`/authorize?${query.toString()}`, { headers });
      expect([response.status, response.headers.has('location')]).toEqual([303, true]);
    });

    it('303 to the same where it is sent as a form', async () => {
      const { client_id } = await website(api);
      const body = new URLSearchParams({ client_id, response_type: 'code', redirect_uri: callback });
      const response = await open('/authorize', { method: 'POST', body });
      expect([response.status, response.headers.has('location')]).toEqual([303, true]);
    });
  });
});

behaviour('auth OAuth', (api) => {
  const open = (path: string, init: RequestInit = {}) =>
    api
      .tenant()
      .anonymous()
      .fetch(`/auth/v1/auth/oauth2${path}`, { redirect: 'manual', ...init });

  it('400 with a page where nobody can be sent back', async () => {
    const query = new URLSearchParams({ client_id: absentClient, response_type: 'code' });
    for (const path of [`/authorize?${query.toString()}`, `/authorize/${unknownUid}`]) {
      const response = await open(path);
      expect([response.status, response.headers.get('content-type')]).toEqual([
        400,
        'text/html; charset=utf-8',
      ]);
    }
  });

  it('400 for a form without a client, or with one that is none', async () => {
    for (const form of [{ scope: 'openid' }, { client_id: absentClient }]) {
      const response = await open('/authorize', { method: 'POST', body: new URLSearchParams(form) });
      expect(response.status).toBe(400);
    }
  });

  it('200 with a form where the answer is to travel as one, at once and after the pages', async () => {
    const { client_id } = await website(api);
    const query = new URLSearchParams({
      client_id,
      response_type: 'code',
      response_mode: 'form_post',
      redirect_uri: callback,
    });
    const refused = await open(`/authorize?${query.toString()}&prompt=none`);
    expect([refused.status, await refused.text()]).toEqual([200, expect.stringContaining('login_required')]);
    const browser = openBrowser(api.tenant().anonymous());
    const signin = await browser.follow(await browser.open(`/oauth2/authorize?${query.toString()}`));
    const left = await browser.follow(await browser.submit(signin, '/abort'));
    expect([left.status, left.text]).toEqual([200, expect.stringContaining('access_denied')]);
  });

  it('400 for a sign-out that names a token of nobody, or that nobody asked for', async () => {
    const body = () => new URLSearchParams({ id_token_hint: 'garbage' });
    expect((await open(`/logout?${body().toString()}`)).status).toBe(400);
    expect((await open('/logout', { method: 'POST', body: body() })).status).toBe(400);
    const xsrf = new URLSearchParams({ xsrf: 'wrong' });
    expect((await open('/logout/confirm', { method: 'POST', body: xsrf })).status).toBe(400);
  });

  it('logout: 303 where nobody is asked, 200 with the page in the end', async () => {
    expect((await open('/logout')).status).toBe(303);
    const body = new URLSearchParams({ state: 'here' });
    expect((await open('/logout', { method: 'POST', body })).status).toBe(303);
    expect((await open('/logout/success')).status).toBe(200);
  });

  it('userinfo: 200 for who signed in on the pages, whom a sign-out asks first', async () => {
    const tenant = await tenantWithApp(api);
    const ada = await tenant.withUser();
    const { browser, clientId, accessToken: access_token } = await consented(tenant, ada);
    const { auth } = tenant.anonymous().plinth;
    const options = { headers: { authorization: `Bearer ${access_token}` } };
    expect(await auth.oauth.userinfo({}, options)).toMatchObject({ sub: ada.id, email: ada.email });
    expect(await auth.oauth.postUserinfo({ body: { access_token } })).toMatchObject({ sub: ada.id });
    expect((await ada.plinth.auth.me.consents()).consents).toMatchObject([{ client_id: clientId }]);
    expect(await ada.plinth.auth.me.revokeConsent({ clientId })).toEqual({ status: 'revoked' });

    const asks = await browser.open('/oauth2/logout');
    expect(asks.status).toBe(200);
    const asksAgain = await browser.post('/oauth2/logout', { state: 'here' });
    expect(asksAgain.status).toBe(200);
    expect((await browser.submit(asksAgain, '/logout/confirm', { logout: 'yes' })).status).toBe(303);
  });

  it('400 where a request says twice who sends it', async () => {
    const response = await api
      .tenant()
      .withSession('no-such-token')
      .fetch('/auth/v1/auth/oauth2/userinfo', {
        method: 'POST',
        body: new URLSearchParams({ access_token: 'no-such-token' }),
      });
    expect(response.status).toBe(400);
  });

  describe('revoke', () => {
    it('200 for whatever is sent, and what it names is no longer good', async () => {
      const { plinth, client, options, ...caller } = await machine(api);
      const { access_token: token } = await plinth.auth.oauth.token({ body: { ...forItself, ...client } });
      const revoke = (body: string) =>
        caller.fetch('/auth/v1/auth/oauth2/revoke', {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body,
        });
      for (const body of ['', 'token=garbage', `token=${token}`])
        expect((await revoke(body)).status, body.slice(0, 20)).toBe(200);
      expect(await plinth.auth.oauth.introspect({ body: { token } }, options)).toEqual({ active: false });
    });
  });
});
