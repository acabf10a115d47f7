/**
 * `kill -9` in the middle of code exchanges and refreshes at the OAuth provider: issued tokens stay valid, an unused code or
 * refresh token is valid once, and none is valid twice.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { IssuedClient } from '../../../../generated/auth/types.ts';
import { type ChildServer, childServer } from '../../../testing/child-server.ts';
import { childDatabase, type ChildDatabase } from '../../../testing/database.ts';
import { newEmail } from '../testing/index.ts';
import { callback, issuer, pkce } from '../testing/oauth.ts';
import { basePath, testBrowser, type TestBrowser } from '../testing/pages.ts';

const services = ['auth', 'keys'];
const password = 'correct horse battery staple';

let db: ChildDatabase;
let server: ChildServer | undefined;
let client: IssuedClient;
beforeAll(async () => {
  db = await childDatabase(services);
});
afterAll(async () => {
  await server?.kill('SIGKILL');
  await db.remove();
});

const start = () =>
  childServer({
    services,
    env: {
      PLINTH_CONTRACT: 'fast',
      // Each start listens on another port, and remains the same provider.
      PLINTH_AUTH_ISSUER: issuer,
      PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1',
      PLINTH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      ...db.env,
    },
  });

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** One authorization as its client saw it: what it was given, and what it requested without a response. */
interface Authorization {
  readonly code: string;
  readonly verifier: string;
  /** The newest tokens; undefined before a response. */
  tokens?: Tokens;
  readonly spent: string[];
  asked: 'nothing' | 'exchange' | 'refresh';
}

async function token(form: Record<string, string>): Promise<{ status: number; body: Tokens }> {
  const { client_id, client_secret } = client;
  const response = await fetch(`${server!.url}${basePath}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}` },
    body: new URLSearchParams(form),
  });
  return { status: response.status, body: (await response.json()) as Tokens };
}
const exchange = ({ code, verifier }: Authorization) =>
  token({ grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: callback });
const refresh = (refresh_token: string) => token({ grant_type: 'refresh_token', refresh_token });
const userinfo = async ({ access_token }: Tokens) => {
  const headers = { authorization: `Bearer ${access_token}` };
  return (await fetch(`${server!.url}${basePath}/oauth2/userinfo`, { headers })).status;
};

/** Follows the provider's redirects until it asks a question. */
async function authorize(browser: TestBrowser) {
  const { verifier, parameters } = pkce();
  const query = new URLSearchParams({
    client_id: client.id,
    response_type: 'code',
    redirect_uri: callback,
    scope: 'openid',
    ...parameters,
  });
  const seen = await browser.follow(await browser.open(`/oauth2/authorize?${query.toString()}`));
  return { seen, verifier };
}

/** A browser whose user is signed in. */
async function signedIn(): Promise<TestBrowser> {
  const identifier = newEmail();
  const body = { email: identifier, password, app_id: 'default' };
  await server!.request('POST', `${basePath}/signup`, { token: null, body });
  const browser = testBrowser(server!);
  const { seen } = await authorize(browser);
  await browser.follow(await browser.submit(seen, '/signin', { identifier, password }));
  return browser;
}

/** Authorizes, exchanges and refreshes until the server is gone. */
async function use(browser: TestBrowser, all: Authorization[], refused: unknown[]): Promise<void> {
  for (;;) {
    const got = await authorize(browser).catch(() => undefined);
    if (!got) return;
    const code = new URL(got.seen.location!).searchParams.get('code')!;
    const authorization: Authorization = { code, verifier: got.verifier, spent: [], asked: 'nothing' };
    all.push(authorization);
    authorization.asked = 'exchange';
    if (!keep(authorization, await exchange(authorization).catch(() => undefined), refused)) return;
    const { refresh_token } = authorization.tokens!;
    authorization.asked = 'refresh';
    if (!keep(authorization, await refresh(refresh_token).catch(() => undefined), refused)) return;
    authorization.spent.push(refresh_token);
  }
}

/** Returns false if there was no response, or a wrong one. */
function keep(
  authorization: Authorization,
  answer: { status: number; body: Tokens } | undefined,
  refused: unknown[],
): boolean {
  if (answer?.status !== 200) {
    if (answer) refused.push(answer.body);
    return false;
  }
  authorization.tokens = answer.body;
  authorization.asked = 'nothing';
  return true;
}

test(
  'a code and a refresh token are good once, whenever the server is killed',
  { timeout: 180_000 },
  async () => {
    server = await start();
    client = (
      await server.request('POST', `${basePath}/oauth2/clients`, {
        body: { name: 'Reports', redirect_uris: [callback], scopes: ['openid'], skip_consent: true },
      })
    ).body as IssuedClient;
    for (let round = 0; round < 4; round += 1) {
      const all: Authorization[] = [];
      const refused: unknown[] = [];
      const browsers = await Promise.all(Array.from({ length: 4 }, signedIn));
      const used = Promise.all(browsers.map((browser) => use(browser, all, refused)));
      const least = 8 + Math.floor(Math.random() * 12);
      await expect.poll(() => all.length, { timeout: 60_000, interval: 5 }).toBeGreaterThan(least);
      await server.kill('SIGKILL');
      await used;
      expect(refused).toEqual([]);
      server = await start();
      await check(all);
    }
    expect(await server.kill()).toBe(0);
  },
);

/** A late copy ends the grant, which all authorizations of a browser share: so valid tokens are checked first. */
async function check(all: readonly Authorization[]): Promise<void> {
  const unheard = all.filter(({ asked }) => asked !== 'nothing');
  for (const { tokens } of all) if (tokens) expect(await userinfo(tokens)).toBe(200);
  for (const { tokens, asked } of all)
    if (tokens && asked === 'nothing') expect((await refresh(tokens.refresh_token)).status).toBe(200);
  // The request was carried out or it was not; a client without a response may try once.
  for (const authorization of unheard) {
    const { tokens } = authorization;
    const late = tokens ? await refresh(tokens.refresh_token) : await exchange(authorization);
    expect([200, 400]).toContain(late.status);
    if (late.status === 200) expect(await userinfo(late.body)).toBe(200);
  }
  for (const authorization of all) {
    const { spent, tokens } = authorization;
    expect((await exchange(authorization)).status).toBe(400);
    for (const used of [...spent, ...(tokens ? [tokens.refresh_token] : [])])
      expect((await refresh(used)).status).toBe(400);
  }
}
