import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../testing/server.ts';
import { Browser, callback, issuer, oauthTools, pkce } from './testing-oauth.ts';

let server: TestServer;
let api: ReturnType<typeof oauthTools>;

beforeAll(async () => {
  server = await testServer({ services: ['auth'] });
  api = oauthTools(server);
});
afterAll(() => server.close());

describe('an authorization', () => {
  it('signs a user in, asks for consent, and gives a code that is exchanged for tokens', async () => {
    const [client, user] = [await api.client(), await api.newUser()];
    const seen: string[] = [];
    const { verifier, parameters } = pkce();
    const to = await api.follow(
      new Browser(server),
      api.authorizeUrl(client, { state: 'xyz', ...parameters }),
      async (waiting, port) => {
        seen.push(waiting.prompt);
        expect(waiting.scopes).toEqual(['openid', 'profile', 'email']);
        return api.willing(user)(waiting, port);
      },
    );
    expect(seen).toEqual(['login', 'consent']);
    expect(to.origin + to.pathname).toBe(callback);
    expect([to.searchParams.get('state'), to.searchParams.get('iss')]).toEqual(['xyz', issuer]);
    const { status, body, headers } = await api.exchange(client, to.searchParams.get('code')!, {
      code_verifier: verifier,
    });
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ token_type: 'Bearer', expires_in: 3600 }),
    ]);
    expect(headers.get('cache-control')).toBe('no-store');
  });
});
