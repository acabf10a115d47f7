import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { IssuedClient, User } from '../../../../generated/auth/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { Browser, callback, issuer, oauthTools, pkce } from '../testing/oauth.ts';
import { testBrowser } from '../testing/pages.ts';

let server: TestServer;
let api: ReturnType<typeof oauthTools>;
let client: IssuedClient;
let user: User;

beforeAll(async () => {
  server = await testServer({ services: ['auth'] });
  api = oauthTools(server);
  client = await api.client();
  user = await api.newUser({ name: 'Ada' });
});
afterAll(() => server.close());

const nobody = () => Promise.reject(new Error('asked'));

/** The parameters of a redirect to the client. */
const said = (to: URL) =>
  Object.fromEntries(to.hash === '' ? to.searchParams : new URLSearchParams(to.hash.slice(1)));

/** The immediate response to the client, without a question to the user. */
async function told(parameters: Record<string, string>, browser = new Browser(server), asking = client) {
  const response = await browser.open(api.authorizeUrl(asking, { state: 's', ...parameters }));
  expect(response.status).toBe(303);
  const to = new URL(response.headers.get('location')!);
  expect(to.origin + to.pathname).toBe(callback);
  return said(to);
}

describe('an id token as a hint', () => {
  it('lets only its user go on', async () => {
    const [browser, other] = [new Browser(server), await api.newUser()];
    const { id_token: others } = await api.tokens(client, other);
    const { id_token: own } = await api.tokens(client, user, {}, browser);
    expect(await told({ prompt: 'none', id_token_hint: own! }, browser)).toHaveProperty('code');
    expect(await told({ prompt: 'none', id_token_hint: others! }, browser)).toMatchObject({
      error: 'login_required',
    });
    expect(await told({ prompt: 'none', id_token_hint: `${own!}x` }, browser)).toMatchObject({
      error: 'invalid_request',
    });
    // If the user may be asked, it is to sign in as that user.
    const url = api.authorizeUrl(client, { id_token_hint: others! });
    const prompts: string[] = [];
    const to = await api.follow(browser, url, (waiting, port) => {
      prompts.push(waiting.prompt);
      return api.willing(other)(waiting, port);
    });
    expect([prompts[0], said(to)['error']]).toEqual(['login', undefined]);
  });

  it('counts where it was pushed, too, and after the keys turned', async () => {
    const [browser, other] = [new Browser(server), await api.newUser()];
    const { id_token: others } = await api.tokens(client, other);
    await api.send('POST', '/signing-keys/rotate');
    await api.code(client, user, {}, browser);
    const form = { response_type: 'code', redirect_uri: callback, prompt: 'none', id_token_hint: others! };
    const { body } = await api.post('/oauth2/par', form, client);
    const { request_uri } = body as { request_uri: string };
    const query = new URLSearchParams({ client_id: client.id, request_uri }).toString();
    const to = await api.follow(browser, `${issuer}/oauth2/authorize?${query}`, nobody);
    expect(said(to)).toMatchObject({ error: 'login_required' });
  });
});

describe('the choice of an account', () => {
  const account = { email: `ada-${Date.now()}@example.com`, password: 'correct horse battery staple' };
  const other = { ...account, email: `boris-${Date.now()}@example.com` };

  it('is asked for where the client wants it: the one that is signed in, or another', async () => {
    const own = await api.client({ skip_consent: true });
    const [ada, boris] = [await api.signUp(account), await api.signUp(other)];
    const browser = testBrowser(server);
    const path = (parameters: Record<string, string>) =>
      api.authorizeUrl(own, parameters).replace(issuer, '');
    const begin = async (parameters: Record<string, string>) =>
      browser.follow(await browser.open(path(parameters)));
    const subject = async (seen: { location: string | undefined }) => {
      const code = new URL(seen.location!).searchParams.get('code')!;
      const { body } = await api.exchange(own, code);
      return decodeJwt((body as { access_token: string }).access_token).sub;
    };
    const fields = ({ email: identifier, password }: typeof account) => ({ identifier, password });

    // Nobody is signed in yet: signing in is the choice.
    const signin = await begin({ prompt: 'select_account' });
    expect(signin.text).toContain('name="password"');
    const first = await browser.follow(await browser.submit(signin, '/signin', fields(account)));
    expect(await subject(first)).toBe(ada.user.id);

    const choice = await begin({ prompt: 'select_account' });
    expect(choice.text).toContain(account.email);
    expect(choice.text).not.toContain('name="password"');
    const same = await browser.follow(await browser.submit(choice, '/account'));
    expect(await subject(same)).toBe(ada.user.id);

    const again = await begin({ prompt: 'select_account' });
    const [, uid] = /interactions\/([\w-]+)\/account/.exec(again.text)!;
    const another = await browser.open(`/oauth2/interactions/${uid}?switch_account=true`);
    const switched = await browser.follow(await browser.submit(another, '/signin', fields(other)));
    expect(await subject(switched)).toBe(boris.user.id);

    // Among several prompts, this one comes first.
    const both = await begin({ prompt: 'consent select_account' });
    const consent = await browser.follow(await browser.submit(both, '/account'));
    expect(consent.text).toContain('asks for access to your account');
    expect(await subject(await browser.follow(await browser.submit(consent, '/consent')))).toBe(
      boris.user.id,
    );
  });

  it('is nothing to decide on the page of a sign-in', async () => {
    const browser = testBrowser(server);
    const signin = await browser.follow(await browser.open(api.authorizeUrl(client).replace(issuer, '')));
    const [, uid, csrf] = /interactions\/([\w-]+)\/signin.*?name="csrf" value="([^"]*)"/s.exec(signin.text)!;
    const sent = await browser.post(`/oauth2/interactions/${uid!}/account`, { csrf: csrf! });
    expect(sent.status).toBe(400);
  });
});

describe('an id token', () => {
  it('says how and how strongly its user was proven, after a refresh as well', async () => {
    const by = async (methods: readonly string[]) => {
      const { verifier, parameters } = pkce();
      const to = await api.follow(
        new Browser(server),
        api.authorizeUrl(client, parameters),
        async (waiting, port) =>
          waiting.prompt === 'login'
            ? (await port.signedIn(waiting, user.id, methods)).location
            : api.willing(user)(waiting, port),
      );
      const code = to.searchParams.get('code')!;
      const { body } = await api.exchange(client, code, { code_verifier: verifier });
      return body as { id_token: string; refresh_token: string };
    };
    const one = await by(['pwd']);
    expect(decodeJwt(one.id_token)).toMatchObject({ amr: ['pwd'], acr: 'urn:plinth:acr:1fa' });
    const two = await by(['pwd', 'otp', 'mfa']);
    const strong = { amr: ['pwd', 'otp', 'mfa'], acr: 'urn:plinth:acr:2fa' };
    expect(decodeJwt(two.id_token)).toMatchObject(strong);
    const { body } = await api.refresh(client, two.refresh_token);
    expect(decodeJwt((body as { id_token: string }).id_token)).toMatchObject(strong);
  });
});
