/** The limits of requests: where they are, and that nothing beyond them is stored. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../testing/server.ts';
import { newEmail, newSlug, tools } from './testing/index.ts';

const password = 'correct horse battery staple';

let server: TestServer;
let api: ReturnType<typeof tools>;
let token: string;
beforeAll(async () => {
  server = await testServer({ services: ['auth'], env: { PLINTH_AUTH_ARGON2: 'm=7168,t=1,p=1' } });
  api = tools(server);
  token = (await api.signUp()).session_token;
});
afterAll(() => server.close());

const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`m${n}`, n]));
const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) });
const sized = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });

describe('metadata', () => {
  const takers: [name: string, method: string, path: string, body: () => object, own: boolean][] = [
    ['a sign-up', 'POST', '/signup', () => ({ email: newEmail(), password, app_id: 'default' }), false],
    ['one’s profile', 'PATCH', '/me', () => ({}), true],
    ['a user', 'POST', '/users', () => ({ email: newEmail() }), false],
    ['an organization', 'POST', '/organizations', () => ({ name: 'Org', slug: newSlug() }), false],
  ];
  describe.each(takers)('of %s', (_name, method, path, body, own) => {
    const put = async (metadata: unknown) => {
      const request = { body: { ...body(), metadata }, ...(own ? { token } : {}) };
      const answer = await server.request(method, `/auth/v1/auth${path}`, request);
      return answer.status < 300
        ? (answer.body.user ?? answer.body).metadata
        : `${answer.status} ${answer.body.error}`;
    };

    it.each([
      ['64 members', members(64)],
      ['5 levels', nested(5)],
      ['16 KiB', sized(16_384)],
      ['16 KiB of two bytes each', { a: 'é'.repeat(8_188) }],
      ['nothing', {}],
    ])('may have %s', async (_, metadata) => expect(await put(metadata)).toEqual(metadata));

    it.each([
      ['65 members', members(65), '400 metadata: must have at most 64 members'],
      ['6 levels', nested(6), '400 metadata: at most 5 levels'],
      ['16 KiB and a byte', sized(16_385), '400 metadata: at most 16384 bytes'],
      ['a list', [], '400 metadata: must be an object'],
      ['text', 'x', '400 metadata: must be an object'],
      ['a lone surrogate', { a: '\ud800' }, expect.stringMatching(/^400 metadata/)],
      ['a null byte', { a: '\0' }, expect.stringMatching(/^400 metadata/)],
    ])('refuses %s', async (_, metadata, error) => expect(await put(metadata)).toEqual(error));

    it('keeps __proto__ as data', async () => {
      const metadata = JSON.parse('{"__proto__": {"admin": true}, "constructor": 1}') as object;
      const kept = await put(metadata);
      expect(JSON.stringify(kept)).toBe(JSON.stringify(metadata));
      expect(({} as { admin?: boolean }).admin).toBeUndefined();
    });
  });
});

describe('a body', () => {
  const padded = (bytes: number) => {
    const body = JSON.stringify({ email: newEmail(), password, app_id: 'default' });
    return body + ' '.repeat(bytes - body.length);
  };
  const signUp = (body: string) => server.request('POST', '/auth/v1/auth/signup', { token: null, body });

  it('has 1 MiB at most', async () => {
    expect((await signUp(padded(1_048_576))).status).toBe(201);
    const refused = await signUp(padded(1_048_577));
    expect([refused.status, refused.body]).toEqual([
      413,
      { error: 'body: larger than 1048576 bytes', code: 'TOO_LARGE' },
    ]);
  });
});

describe('a User-Agent', () => {
  const seen = async (agent: string) => {
    const headers = { 'user-agent': agent };
    const { session_token } = await api.signUp({}, { headers });
    const own = { token: session_token };
    const [{ sessions }, { devices }] = [
      await api.send('GET', '/sessions', own),
      await api.send('GET', '/devices', own),
    ];
    return { kept: sessions[0].user_agent as string | null, device: devices[0].name as string };
  };

  it.each([
    [
      'of a browser',
      'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0',
      'Firefox on Linux',
    ],
    ['that is markup', '<script>alert(1)</script>', expect.any(String)],
    ['of other letters', 'Caf\u00e9/1.0 \u00ff', expect.any(String)],
    ['that is SQL', "'; drop table auth.users; --", expect.any(String)],
  ])('%s is kept as it is', async (_, agent, device) =>
    expect(await seen(agent)).toEqual({ kept: agent, device }),
  );

  it('is kept up to 512 characters, and the name of its device up to 128', async () => {
    const { kept, device } = await seen(`${'a'.repeat(4_000)}/1.0 (${'b'.repeat(4_000)})`);
    expect(kept).toBe('a'.repeat(512));
    expect(device.length).toBeLessThanOrEqual(128);
  });
});
