import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { demoServer } from './fixture/server.ts';
import type { RawMount, RawRequest, RawResponse } from './raw-mounts.ts';

const json = (value: unknown, status = 200): RawResponse => ({
  status,
  contentType: 'application/json',
  headers: { 'X-Other': 'yes' },
  body: JSON.stringify(value),
});

async function* pieces(...texts: string[]) {
  for (const text of texts) yield await Promise.resolve(Buffer.from(text));
}

async function* damaged() {
  yield* pieces('ab');
  throw new Error('damaged');
}

async function answer(request: RawRequest): Promise<RawResponse> {
  const { method, url, path } = request;
  if (path === '/unexpected') throw new Error('secret detail');
  if (path === '/pieces')
    return { ...json(''), headers: { 'Content-Length': '4' }, body: pieces('ab', 'cd') };
  if (path === '/broken') return { ...json(''), headers: { 'Content-Length': '4' }, body: damaged() };
  if (path === '/failed') return { ...json({ failed: true }, 500), cause: new Error('the disk') };
  request.name('Echo');
  const received: Buffer[] = [];
  for await (const piece of request.body({ bytes: 10 })) received.push(piece);
  return json({ method, url, path, body: Buffer.concat(received).toString() });
}

const mount: RawMount = { name: 'Other', path: '/other', port: 0, answer };

let server: Awaited<ReturnType<typeof demoServer>>;
beforeAll(async () => {
  server = await demoServer({ raw: [mount] });
});
afterAll(() => server.close());

const send = (path: string, init: RequestInit = {}) => fetch(server.url + path, init);

test('a request below the mount arrives as it was sent, whatever its method', async () => {
  const response = await send('/other/a%2Fb%ff/?c=%zz', { method: 'PATCH', body: 'text' });
  expect(await response.json()).toEqual({
    ...{ method: 'PATCH', url: '/demo/other/a%2Fb%ff/?c=%zz', path: '/a%2Fb%ff/', body: 'text' },
  });
  expect(response.headers.get('x-request-id')).toBeTruthy();
  expect(server.log()).toContain('"operation":"demo.Other.Echo"');
  const metrics = await (await fetch(`${server.origin}/metrics`)).text();
  expect(metrics).toContain('_count{service="demo",operation="Other_Echo",status="200"} 1');
});

test('paths that only begin like the mount are not below it', async () => {
  expect((await send('/otherwise')).status).toBe(404);
  expect((await server.send('GET', '/v1/things')).status).toBe(200);
  expect((await send('/other?a')).status).toBe(200);
});

test('a body may not be longer than the mount allows', async () => {
  const response = await send('/other/x', { method: 'PUT', body: 'x'.repeat(11) });
  expect([response.status, await response.json()]).toEqual([413, { error: 'body: larger than 10 bytes' }]);
});

test('an answer in pieces has its length, and HEAD only the head', async () => {
  expect(await (await send('/other/pieces')).text()).toBe('abcd');
  const head = await send('/other/pieces', { method: 'HEAD' });
  expect([head.headers.get('content-length'), await head.text()]).toEqual(['4', '']);
  const cut = await new Promise<string>((resolve) => {
    const sent = request(`${server.url}/other/broken`, (response) => {
      response.on('error', (error) => resolve(error.message));
      response.on('end', () => resolve('complete'));
      response.resume();
    });
    sent.end();
  });
  expect(cut).toBe('aborted');
});

test('an error that the mount does not answer reveals nothing, and its cause is in the log', async () => {
  const response = await send('/other/unexpected');
  expect([response.status, await response.text()]).toEqual([500, '{"error":"internal error"}']);
  expect(server.log()).toContain('secret detail');
  expect((await send('/other/failed')).status).toBe(500);
  expect(server.log()).toContain('the disk');
});
