import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { perMinute } from '../limits/rate-limits.ts';
import { basePath } from '../testing/pages.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({
    services: ['auth'],
    env: { PLINTH_AUTH_RATE_LIMIT: 'on' },
    trustedProxy: ['127.0.0.1'],
  });
});
afterAll(() => server.close());

/** Sends a request as an unknown client; such requests count as well. */
const ask = (path: string, ip: string) =>
  server.request('POST', `${basePath}/oauth2${path}`, {
    token: null,
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      token: 'x',
      client_id: 'client_x',
    }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': ip },
  });

/** Sends requests until one is refused for being too many: returns that response, and the number before it. */
async function exhaust(path: string, ip: string) {
  for (let before = 0; ;) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask(path, ip)));
    const refused = answers.filter(({ status }) => status === 429);
    before += answers.length - refused.length;
    if (refused[0]) return { refused: refused[0], before };
  }
}

describe('requests a minute from one address', { timeout: 60_000 }, () => {
  it.each([
    ['/token', perMinute.token, '198.18.0.1'],
    ['/introspect', perMinute.introspect, '198.18.0.2'],
  ])('to %s are %i; more are told to wait, as OAuth tells it', async (path, most, ip) => {
    const { refused, before } = await exhaust(path, ip);
    expect(before).toBeGreaterThanOrEqual(most);
    expect(refused.body).toEqual({
      error: 'temporarily_unavailable',
      error_description: 'too many requests',
      code: 'RATE_LIMITED',
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await ask(path, '198.18.0.3')).status).toBe(401);
  });

  it('are not counted where a token is revoked', async () => {
    const ip = '198.18.0.4';
    await exhaust('/token', ip);
    expect((await ask('/revoke', ip)).status).toBe(200);
  });
});
