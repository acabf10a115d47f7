import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoServer } from './fixture/server.ts';

const app = 'https://app.example.com';
type Demo = Awaited<ReturnType<typeof demoServer>>;
let closed: Demo;
let known: Demo;
let open: Demo;
beforeAll(async () => {
  [closed, known, open] = await Promise.all([
    demoServer(),
    demoServer({ origins: [app, 'http://localhost:5173'] }),
    demoServer({ origins: ['*'] }),
  ]);
});
afterAll(() => Promise.all([closed, known, open].map((server) => server.close())));

/** Sends the preflight that a browser sends before a page of `origin` may send `method`. */
const preflight = ({ url }: Demo, path: string, method: string, origin = app) =>
  fetch(url + path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization,content-type',
    },
  });

/** The headers of a response that concern other origins, without their prefix `access-control-`. */
const permissions = ({ headers }: { headers: Headers }) =>
  Object.fromEntries(
    [...headers]
      .filter(([name]) => name.startsWith('access-control-'))
      .map(([name, value]) => [name.replace('access-control-', ''), value]),
  );

describe('without origins', () => {
  test('no answer says anything of other origins', async () => {
    const asked = await preflight(closed, '/v1/things', 'POST');
    const sent = await closed.send('GET', '/v1/things', { headers: { origin: app } });
    expect([permissions(asked), permissions(sent)]).toEqual([{}, {}]);
    expect([asked.headers.get('vary'), sent.headers.get('vary')]).toEqual([null, null]);
    expect(asked.headers.get('allow')).toBe('POST, GET, HEAD, OPTIONS');
  });
});

describe('a known origin', () => {
  test('is told before it sends what it may send, without a credential', async () => {
    const asked = await preflight(known, '/v1/things', 'POST');
    expect([asked.status, await asked.text()]).toEqual([204, '']);
    expect(permissions(asked)).toEqual({
      'allow-origin': app,
      'allow-methods': 'POST, GET, HEAD',
      'allow-headers':
        'Authorization, X-API-Key, DPoP, Content-Type, Idempotency-Key, ' +
        'X-Tenant-ID, X-App-ID, X-User-ID, X-Subject-ID, X-Request-ID, Last-Event-ID',
      'max-age': '600',
    });
    expect(asked.headers.get('vary')).toBe('Origin');
    expect(asked.headers.get('x-request-id')).toMatch(/./);
  });

  test('may read answers and refusals, and the headers that the contract documents', async () => {
    const headers = { origin: app };
    const answers = await Promise.all([
      known.send('GET', '/v1/things', { headers }),
      known.send('GET', '/v1/things', { headers, token: null }),
      known.send('GET', '/v1/nothing', { headers }),
      known.send('GET', '/openapi.json', { headers }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 404, 200]);
    for (const answer of answers) {
      expect(permissions(answer)).toEqual({
        'allow-origin': app,
        'expose-headers': expect.stringMatching(/^X-Revision, .*X-Request-ID, Retry-After, \*$/),
      });
      expect(answer.headers.get('vary')).toBe('Origin');
    }
  });

  test('may ask for a path that is none, to see that it is none', async () => {
    expect(permissions(await preflight(known, '/v1/nothing', 'GET'))['allow-methods']).toBe('GET, HEAD');
  });
});

test('in development only pages of the own machine are root without a token', async () => {
  const development = await demoServer({ origins: ['*'], anonymous: true });
  const status = async (origin: string) =>
    (await development.send('GET', '/v1/things', { headers: { origin }, token: null })).status;
  for (const origin of [
    'http://localhost:5173',
    'http://127.0.0.1:4000',
    'http://[::1]:80',
    'http://a.localhost',
  ])
    expect([origin, await status(origin)]).toEqual([origin, 200]);
  for (const origin of [
    'https://evil.test',
    'http://localhost.evil.test',
    'http://127.0.0.1.evil.test',
    'null',
  ])
    expect([origin, await status(origin)]).toEqual([origin, 401]);
  await development.close();
});

describe('any other origin', () => {
  test.each(['https://app.example.com.evil.test', 'http://app.example.com', 'null'])(
    '%s is not let in, and caches know that it could have been',
    async (origin) => {
      const asked = await preflight(known, '/v1/things', 'POST', origin);
      const sent = await known.send('GET', '/v1/things', { headers: { origin } });
      expect([permissions(asked), permissions(sent)]).toEqual([{}, {}]);
      expect([asked.headers.get('vary'), sent.headers.get('vary')]).toEqual(['Origin', 'Origin']);
    },
  );

  test('is let in where all are, and never with cookies', async () => {
    const asked = permissions(await preflight(open, '/v1/things', 'GET', 'https://other.example'));
    expect(asked['allow-origin']).toBe('*');
    expect(asked).not.toHaveProperty('allow-credentials');
  });
});

describe('a service that decides by path', () => {
  const other = 'https://other.example';
  const admits = (url: string, _origin: string, preflight: boolean) =>
    preflight && url.startsWith('/demo/v1/hello');

  test('allows a preflight, and lets the handler say who reads the response', async () => {
    const server = await demoServer({ origins: [app], admits });
    const asked = permissions(await preflight(server, '/v1/hello', 'GET', other));
    const elsewhere = permissions(await preflight(server, '/v1/things', 'GET', other));
    expect([asked['allow-origin'], elsewhere]).toEqual([other, {}]);
    const read = async (query: string) =>
      permissions(await server.send('GET', `/v1/hello${query}`, { headers: { origin: other }, token: null }));
    const readable = { 'allow-origin': other, 'expose-headers': '*' };
    expect(await read('')).toEqual({});
    expect(await read(`?app_id=${other}`)).toEqual(readable);
    expect(await read('?app_id=*')).toEqual(readable);
    expect(await read('?app_id=https://third.example')).toEqual({});
    await server.close();
  });
});
