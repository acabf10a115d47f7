import { createHash, randomBytes } from 'node:crypto';
import { pino } from 'pino';
import type { IssuedClient, User } from '../../../../generated/auth/types.ts';
import { createChanges } from '../../../db/changes.ts';
import { readSettings } from '../../../lib/settings.ts';
import { testSealer, type TestServer } from '../../../testing/server.ts';
import type { Deps } from '../oauth/access/deps.ts';
import { createDirectory } from '../directory/directory.ts';
import { createInteractions, type Interaction, type Interactions } from '../oauth/interactions.ts';
import { createKnownUsers } from '../directory/known-users.ts';
import { createSigningKeys } from '../oauth/keys/key-set.ts';
import { createOAuthClients } from '../apps/oauth-clients.ts';
import { createOidcProvider } from '../oauth/oidc-provider.ts';
import { settings } from '../settings.ts';
import { newEmail, tools } from './index.ts';
import { createUsedOnce } from '../directory/used-once.ts';
import { createWriter } from '../directory/writes.ts';

/** The issuer that the server claims; it listens elsewhere. */
export const issuer = 'http://127.0.0.1:4000/auth/v1/auth';
export const callback = 'https://reports.example.com/callback';

/** Sends requests for the issuer to the address where the server listens. */
export const fetchFrom =
  (server: Pick<TestServer, 'url'>) =>
  (url: string, options: object = {}): Promise<Response> =>
    fetch(url.replace(new URL(issuer).origin, server.url), { redirect: 'manual', ...options });

/** A browser: it keeps its cookies and sends them where they belong. */
export class Browser {
  readonly #fetch: ReturnType<typeof fetchFrom>;
  readonly cookies = new Map<string, { value: string; path: string }>();

  constructor(server: Pick<TestServer, 'url'>) {
    this.#fetch = fetchFrom(server);
  }

  cookieFor(url: string): string {
    const { pathname } = new URL(url);
    const sent = [...this.cookies].filter(([, { path }]) => pathname.startsWith(path));
    return sent.map(([key, { value }]) => `${key.split(' ')[0]!}=${value}`).join('; ');
  }

  async open(url: string, form?: Record<string, string>): Promise<Response> {
    const response = await this.#fetch(url, {
      headers: { cookie: this.cookieFor(url) },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    return response;
  }

  #keep(line: string): void {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
    const path = /path=([^;]+)/i.exec(line)?.[1] ?? '/';
    if (value === '') this.cookies.delete(`${name} ${path}`);
    else this.cookies.set(`${name} ${path}`, { value: value!, path });
  }
}

/** A code verifier and its challenge (RFC 7636). */
export function pkce(verifier = randomBytes(32).toString('base64url')) {
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  return { verifier, parameters: { code_challenge: challenge, code_challenge_method: 'S256' } };
}

/** Helpers for the tests of the OAuth provider. */
export function oauthTools(server: TestServer) {
  const api = tools(server);
  const request = fetchFrom(server);
  const interactions = interactionsOf(server);

  /** Posts a form; `basic` authenticates. */
  async function post(
    path: string,
    form: Record<string, string>,
    basic?: Pick<IssuedClient, 'client_id' | 'client_secret'>,
    more: Record<string, string> = {},
  ) {
    const authorization = basic && `Basic ${btoa(`${basic.client_id}:${basic.client_secret}`)}`;
    const response = await request(`${issuer}${path}`, {
      method: 'POST',
      body: new URLSearchParams(form),
      headers: { ...(authorization && { authorization }), ...more },
    });
    const text = await response.text();
    const body = (text.startsWith('{') ? JSON.parse(text) : text) as unknown;
    return { status: response.status, headers: response.headers, body };
  }

  const authorizeUrl = (client: Pick<IssuedClient, 'client_id'>, parameters: Record<string, string> = {}) =>
    `${issuer}/oauth2/authorize?${new URLSearchParams({
      client_id: client.client_id,
      response_type: 'code',
      redirect_uri: callback,
      ...parameters,
    }).toString()}`;

  const follow = (browser: Browser, url: string, decide: Decide): Promise<URL> =>
    followRedirects(interactions, browser, url, decide);

  const exchange = (client: IssuedClient, code: string, more: Record<string, string> = {}) =>
    post(
      '/oauth2/token',
      {
        grant_type: 'authorization_code',
        code,
        redirect_uri: callback,
        ...(client.client_secret === null && { client_id: client.client_id }),
        ...more,
      },
      client.client_secret === null ? undefined : client,
    );

  return {
    ...api,
    interactions,
    request,
    post,
    authorizeUrl,
    follow,
    willing,
    exchange,
    client: (body: object = {}, options = {}): Promise<IssuedClient> =>
      api.send('POST', '/oauth2/clients', {
        ...options,
        body: { name: 'Reports', redirect_uris: [callback], ...body },
      }),
    /** Gets a code for the user, with all consents. */
    async code(
      client: IssuedClient,
      user: Pick<User, 'id'>,
      parameters: Record<string, string> = {},
      browser = new Browser(server),
    ): Promise<string> {
      const to = await follow(browser, authorizeUrl(client, parameters), willing(user));
      const code = to.searchParams.get('code');
      if (code === null) throw new Error(`no code: ${to.href}`);
      return code;
    },
    /** Gets the tokens that a code is exchanged for. */
    async tokens(
      client: IssuedClient,
      user: Pick<User, 'id'>,
      parameters: Record<string, string> = {},
      browser = new Browser(server),
    ) {
      const { verifier, parameters: challenge } = pkce();
      const code = await this.code(client, user, { ...challenge, ...parameters }, browser);
      const { status, body } = await exchange(client, code, { code_verifier: verifier });
      if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
      return body as { access_token: string; refresh_token: string; id_token?: string; scope: string };
    },
    refresh: (client: IssuedClient, refresh_token: string, more: Record<string, string> = {}) =>
      post('/oauth2/token', { grant_type: 'refresh_token', refresh_token, ...more }, client),
    introspect: (client: IssuedClient, token: string) => post('/oauth2/introspect', { token }, client),
    userinfo: (token: string) =>
      request(`${issuer}/oauth2/userinfo`, { headers: { authorization: `Bearer ${token}` } }),
    newUser: (body: object = {}) => api.user({ email: newEmail(), ...body }),
  };
}

/** Acts as the user on the hosted pages; returns where the browser goes next. */
type Decide = (waiting: Interaction, port: Interactions) => Promise<string>;

/** Follows the provider's redirects until they leave it. */
async function followRedirects(
  interactions: Interactions,
  browser: Browser,
  url: string,
  decide: Decide,
): Promise<URL> {
  for (let at = url; ;) {
    const response = await browser.open(at);
    const location = response.headers.get('location');
    if (response.status !== 303 || location === null)
      throw new Error(`${at}: ${response.status} ${await response.text()}`);
    const uid = /\/oauth2\/interactions\/([\w-]+)$/.exec(location)?.[1];
    if (uid === undefined && !location.startsWith(`${issuer}/`)) return new URL(location);
    const waiting = uid === undefined ? undefined : await interactions.find(uid, browser.cookieFor(location));
    if (uid !== undefined && !waiting) throw new Error(`the browser has no interaction ${uid}`);
    at = waiting ? await decide(waiting, interactions) : location;
  }
}

/** Signs the user in when asked, and consents to everything. */
const willing =
  (user: Pick<User, 'id'>): Decide =>
  async (waiting, port) => {
    if (waiting.prompt === 'login') return (await port.signedIn(waiting, user.id, ['pwd'])).location;
    if (waiting.prompt === 'select_account') return (await port.selected(waiting)).location;
    return (await port.consented(waiting)).location;
  };

/** The interactions that the hosted pages would use, on the server's database. Nothing is cached, so nothing gets outdated. */
export function interactionsOf({ db }: Pick<TestServer, 'db'>, sealer = testSealer): Interactions {
  const log = pino({ level: 'silent' });
  const changes = createChanges({ db, schema: 'auth', detailed: true, log });
  const write = createWriter({ db, changes, deliver: async () => {}, secure: async () => {} });
  const deps = {
    db,
    changes,
    write,
    sealer,
    log,
    issuer,
    settings: readSettings(settings, {}),
    directory: createDirectory({ db, changes }),
    usedOnce: createUsedOnce(db),
    knownUsers: createKnownUsers({ db, changes, size: 0 }),
    signingKeys: createSigningKeys({ db, write, changes, sealer }),
    oauthClients: createOAuthClients({ db, changes, size: 0 }),
  } as unknown as Deps;
  return createInteractions(deps, createOidcProvider(deps));
}
