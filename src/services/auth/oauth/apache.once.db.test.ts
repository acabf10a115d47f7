/** A widely used third-party client: Apache's mod_auth_openidc, which protects an application with the provider's sign-in. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { IssuedClient } from '../../../../generated/auth/types.ts';
import { findApache, startApache, type Apache } from '../../../testing/apache.ts';
import { childServer, type ChildServer } from '../../../testing/child-server.ts';
import { freePort } from '../../../testing/free-port.ts';
import { childDatabase, type ChildDatabase } from '../../../testing/database.ts';
import { newEmail, tools } from '../testing/index.ts';
import { basePath, testBrowser } from '../testing/pages.ts';

const modules = [
  'mpm_event',
  'authn_core',
  'authz_core',
  'authz_user',
  'proxy',
  'proxy_http',
  'headers',
  'auth_openidc',
];
const found = findApache(modules);
// This is printed, because reporters do not say why a test is skipped.
if (!found)
  console.warn(
    'src/services/auth/oauth/apache.once.db.test.ts is skipped: no apache2 with mod_auth_openidc in /usr',
  );

/** With several services, each has its prefix, as the test helpers expect. */
const services = ['auth', 'keys'];
const password = 'correct horse battery staple';

describe.skipIf(!found)('an application behind mod_auth_openidc', { timeout: 60_000 }, () => {
  let db: ChildDatabase;
  let server: ChildServer;
  let application: Server;
  let apache: Apache;
  let api: ReturnType<typeof tools>;

  beforeAll(async () => {
    db = await childDatabase(services);
    server = await childServer({
      services,
      env: {
        PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1',
        ...db.env,
      },
    });
    api = tools(server);
    // The application, which responds with what Apache tells it about the user.
    application = createServer(({ headers }, response) => response.end(JSON.stringify(headers)));
    await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve));
    const port = await freePort();
    const client = await registered(`http://127.0.0.1:${port}`);
    apache = await startApache(port, modules, [
      // This header shows that `fetch` is no browser, and only browsers are redirected to a sign-in.
      'RequestHeader unset Sec-Fetch-Mode early',
      `OIDCProviderMetadataURL ${server.url}${basePath}/.well-known/openid-configuration`,
      `OIDCClientID ${client.client_id}`,
      `OIDCClientSecret ${client.client_secret!}`,
      `OIDCRedirectURI http://127.0.0.1:${port}/app/callback`,
      'OIDCCryptoPassphrase "a passphrase of this test"',
      'OIDCScope "openid profile email"',
      'OIDCPKCEMethod S256',
      'OIDCRemoteUserClaim email',
      '<Location /app>',
      'AuthType openid-connect',
      'Require valid-user',
      `ProxyPass http://127.0.0.1:${(application.address() as AddressInfo).port}/`,
      '</Location>',
    ]);
  }, 120_000);
  afterAll(async () => {
    await apache?.close();
    application?.close();
    await server?.kill();
    await db?.remove();
  });

  const registered = (url: string): Promise<IssuedClient> =>
    api.send('POST', '/oauth2/clients', {
      body: {
        name: 'Reports',
        redirect_uris: [`${url}/app/callback`],
        post_logout_redirect_uris: [`${url}/`],
      },
    });

  it('is reached after sign-in and consent, knows the user, and is left by signing out', async () => {
    const { user } = await api.signUp({ email: newEmail(), name: 'Ada Lovelace' });
    const [app, provider] = [testBrowser(apache), testBrowser(server)];
    const asked = await app.open(`${apache.url}/app/reports`);
    expect(asked.location ?? asked.text, await apache.errors()).toMatch(
      `${server.url}${basePath}/oauth2/authorize?`,
    );

    const page = await provider.follow(await provider.open(asked.location!));
    const fields = { identifier: user.email!, password };
    const consent = await provider.follow(await provider.submit(page, '/signin', fields));
    const back = await provider.follow(await provider.submit(consent, '/consent'));
    const inside = await app.open(back.location!);
    expect(inside.location ?? inside.text, await apache.errors()).toBe(`${apache.url}/app/reports`);
    const reports = await app.open(inside.location!);
    expect(reports.status).toBe(200);
    expect(JSON.parse(reports.text)).toMatchObject({
      oidc_claim_sub: user.id,
      oidc_claim_email: user.email,
      oidc_claim_name: 'Ada Lovelace',
    });

    const left = await app.open(`${apache.url}/app/callback?logout=${encodeURIComponent(`${apache.url}/`)}`);
    const question = await provider.follow(await provider.open(left.location!));
    const out = await provider.submit(question, '/logout/confirm', { logout: 'yes' });
    expect(out.location).toBe(`${apache.url}/`);
    const again = await app.open(`${apache.url}/app/reports`);
    expect(again.location).toMatch(`${server.url}${basePath}/oauth2/authorize?`);
    const anew = await provider.follow(await provider.open(again.location!));
    expect(anew.text).toContain('<h1>Sign in</h1>');
  });
});
