import type { SignedUp, Tenant } from '../harness.ts';
import { openBrowser, type Browser } from './browser.ts';

const callback = 'https://reports.example.com/callback';

export interface Consented {
  readonly browser: Browser;
  readonly clientId: string;
  readonly accessToken: string;
}

/** Creates a user who signs in on the pages and gives a new client access to their identity. */
export async function consented(tenant: Tenant, user: SignedUp): Promise<Consented> {
  const { id: client_id, client_secret } = await tenant.plinth.auth.clients.create({
    body: { name: 'Reports', redirect_uris: [callback] },
  });
  const browser = openBrowser(tenant.anonymous());
  const query = new URLSearchParams({
    client_id,
    response_type: 'code',
    redirect_uri: callback,
    scope: 'openid email',
  });
  const signin = await browser.follow(await browser.open(`/oauth2/authorize?${query.toString()}`));
  const fields = { identifier: user.email, password: user.password };
  const consent = await browser.follow(await browser.submit(signin, '/signin', fields));
  const { location = '' } = await browser.follow(await browser.submit(consent, '/consent'));
  const { access_token } = await tenant.anonymous().plinth.auth.oauth.token({
    body: {
      grant_type: 'authorization_code',
      code: new URL(location).searchParams.get('code') ?? '',
      redirect_uri: callback,
      client_id,
      client_secret: client_secret ?? '',
    },
  });
  return { browser, clientId: client_id, accessToken: access_token };
}
