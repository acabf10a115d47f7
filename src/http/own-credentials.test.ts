import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoServer, token } from './fixture/server.ts';

let server: Awaited<ReturnType<typeof demoServer>>;
beforeAll(async () => {
  server = await demoServer();
});
afterAll(() => server.close());

const signed = (method: string, path: string, signature: string) =>
  server.send(method, path, { token: null, headers: { 'x-demo-signature': signature } });

describe("a credential of the service's own", () => {
  test('identifies the caller, who may do what the service says', async () => {
    expect((await signed('GET', '/v1/things', 'link-1')).status).toBe(200);
    expect(await signed('GET', '/v1/things/count', 'link-1')).toMatchObject({ status: 405 });
    expect(await signed('POST', '/v1/things/count', 'link-1')).toMatchObject({
      status: 403,
      message: 'missing scope demo:read',
    });
    expect(server.lines.at(-1)).toContain('"tenant":"acme","actor":"link"');
  });

  test('that is not valid is refused in the words of the service', async () => {
    expect(await signed('GET', '/v1/things', 'wrong')).toMatchObject({
      status: 401,
      message: 'link is invalid or expired',
    });
  });

  test('is never that of root, whatever the service says', async () => {
    expect(await signed('GET', '/v1/whoami', 'copied')).toMatchObject({
      status: 500,
      message: 'internal error',
    });
    expect(server.log()).toContain('a service gave link a credential of root');
  });

  test('counts for no public operation', async () => {
    const { status, text } = await signed('POST', '/v1/failures/gone', 'wrong');
    expect([status, text]).toEqual([405, expect.stringContaining('method not allowed')]);
    expect((await signed('GET', '/v1/failures/gone', 'wrong')).status).toBe(410);
  });

  test('is not needed: the credentials of the platform count as ever', async () => {
    expect((await server.send('GET', '/v1/things')).status).toBe(200);
    expect((await server.send('GET', '/v1/things', { token: null })).status).toBe(401);
  });
});

describe('a token of the platform in another place', () => {
  const carried = (sent: string) => ({
    'sec-websocket-protocol': `demo, bearer.${Buffer.from(sent).toString('base64url')}`,
  });

  test('identifies the caller as a Bearer token does', async () => {
    const send = (headers: Record<string, string>) =>
      server.send('GET', '/v1/things', { token: null, headers });
    expect((await send(carried(token))).status).toBe(200);
    expect((await send(carried('wrong'))).status).toBe(401);
  });

  test('is refused next to another credential', async () => {
    expect(await server.send('GET', '/v1/things', { headers: carried('any') })).toMatchObject({
      status: 400,
      message: 'Authorization: only one credential may be given',
    });
  });
});
