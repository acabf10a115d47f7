import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { demoServer, token } from './fixture/server.ts';

const page = 'https://app.example.com';
let server: Awaited<ReturnType<typeof demoServer>>;
beforeAll(async () => {
  server = await demoServer({ origins: [page] });
});
afterAll(() => server.close());

const send = (headers: Record<string, string>) => server.send('PUT', '/v1/slow', { raw: 'abc', headers });

test('headers of a prefix reach the handler as a map, and the answer may have them', async () => {
  const sent = {
    'X-Demo-Meta-Colour': 'dark blue',
    'x-demo-meta-city': "utf-8''K%C3%B6ln",
    'x-demo-other': 'x',
  };
  const { status, headers } = await send(sent);
  const told = [...headers].filter(([name]) => name.startsWith('x-demo-'));
  expect([status, Object.fromEntries(told)]).toEqual([
    200,
    { 'x-demo-meta-colour': 'dark%20blue', 'x-demo-meta-city': 'K%C3%B6ln' },
  ]);
});

test.each<[what: string, headers: Record<string, string>, message: string]>([
  [
    'too many',
    { 'x-demo-meta-a': '1', 'x-demo-meta-b': '1', 'x-demo-meta-c': '1', 'x-demo-meta-d': '1' },
    'X-Demo-Meta-*: must be at most 3 headers',
  ],
  ['too long', { 'x-demo-meta-a': 'x'.repeat(64) }, 'X-Demo-Meta-*: must have at most 64 bytes together'],
  ['of no name', { 'x-demo-meta-': 'x' }, 'X-Demo-Meta-: must be followed by a name'],
  [
    'of other characters',
    { 'x-demo-meta-a': 'K\u00f6ln' },
    "X-Demo-Meta-a: must be printable ASCII, or utf-8'' and percent-encoded",
  ],
  ['wrongly encoded', { 'x-demo-meta-a': "utf-8''%ff" }, 'X-Demo-Meta-a: malformed percent-encoding'],
])('headers that are %s are refused', async (_, headers, message) => {
  expect(await send(headers)).toMatchObject({ status: 400, message });
});

test('a header that is given twice is refused, whatever its case', async () => {
  const pairs = ['Authorization', `Bearer ${token}`, 'X-Demo-Meta-A', '1', 'x-demo-meta-a', '2', 'Host', 'x'];
  const told = await new Promise<string>((resolve, reject) => {
    const sent = request(`${server.url}/v1/slow`, { method: 'PUT', headers: pairs });
    sent.on('response', (res) => resolve(text(res))).on('error', reject);
    sent.end();
  });
  expect(told).toContain('X-Demo-Meta-a: given more than once');
});

test('pages of other origins may send them and read them', async () => {
  const asked = await fetch(`${server.url}/v1/slow`, {
    method: 'OPTIONS',
    headers: {
      origin: page,
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'authorization,x-demo-meta-colour,x-other',
    },
  });
  const allowed = asked.headers.get('access-control-allow-headers')!.split(', ');
  expect([allowed.includes('x-demo-meta-colour'), allowed.includes('x-other')]).toEqual([true, false]);
  const sent = await send({ origin: page });
  expect(sent.headers.get('access-control-expose-headers')).toMatch(/, \*$/);
});
