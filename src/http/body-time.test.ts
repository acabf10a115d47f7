import { once } from 'node:events';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { demoServer, token, type DemoOptions } from './fixture/server.ts';

type Server = Awaited<ReturnType<typeof demoServer>>;
const open: Server[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close(0);
});

async function start(options: DemoOptions = {}): Promise<Server> {
  const server = await demoServer(options);
  open.push(server);
  return server;
}

/** Begins a request whose body the test sends itself. */
function begin({ url }: Server, path: string, headers: Record<string, string | number> = {}) {
  const method = path.startsWith('/v1/things') ? 'POST' : 'PUT';
  const sent: ClientRequest = request(url + path, {
    method,
    agent: false,
    headers: { authorization: `Bearer ${token}`, ...headers },
  });
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    sent.on('response', resolve).on('error', reject);
  });
  const told = answer.then(async (res) => ({
    status: res.statusCode,
    connection: res.headers.connection,
    text: await text(res),
  }));
  // A connection that is cut after the response is not a failure of the test.
  told.catch(() => {});
  return { sent, told };
}

describe('a body that takes its time', () => {
  test('is refused when nothing arrives for as long as the operation allows, and the connection ends', async () => {
    const server = await start({ limits: { Raw_slow: { silence: 0.05 } } });
    const { sent, told } = begin(server, '/v1/slow');
    sent.write('a');
    expect(await told).toMatchObject({
      status: 408,
      connection: 'close',
      text: expect.stringContaining('body: stalled'),
    });
  });

  test('is refused when it is not complete in the time of the operation', async () => {
    const server = await start({ limits: { Raw_slow: { body: 0.1 } } });
    const { sent, told } = begin(server, '/v1/slow');
    const drip = setInterval(() => sent.write('a'), 10);
    expect(await told).toMatchObject({ status: 408, text: expect.stringContaining('body: took too long') });
    clearInterval(drip);
  });

  test('is refused as JSON, too', async () => {
    const server = await start({ limits: { Things_create: { silence: 0.05 } } });
    const { sent, told } = begin(server, '/v1/things', { 'content-type': 'application/json' });
    sent.write('{');
    expect(await told).toMatchObject({ status: 408 });
  });

  test('may take longer than the server allows other requests', async () => {
    const server = await start({ requestTimeout: 100 });
    const slow = begin(server, '/v1/slow');
    slow.sent.write('a');
    await vi.waitFor(() => expect(server.state.waiting).toBe(1));
    const other = begin(server, '/v1/files/a');
    other.sent.write('a');
    // The server cuts the other request, which was sent later, so it also had time to cut this one.
    expect(await other.told).toMatchObject({ status: 408 });
    slow.sent.end('b');
    expect(await slow.told).toMatchObject({ status: 200, text: '{"size":2}' });
  });

  test('has the bound in bytes that the settings of the service decide', async () => {
    const server = await start({ limits: { Raw_slow: { bodyBytes: 3 } } });
    const whole = await server.send('PUT', '/v1/slow', { raw: 'abc' });
    const more = await server.send('PUT', '/v1/slow', { raw: 'abcd' });
    expect([whole.status, more.status, more.message]).toEqual([200, 413, 'body: larger than 3 bytes']);
  });
});

describe('a client that expects 100 Continue', () => {
  const expecting = { expect: '100-continue', 'content-length': 3 };

  test('is asked for the body when it is going to be read', async () => {
    const server = await start();
    const { sent, told } = begin(server, '/v1/slow', expecting);
    sent.flushHeaders();
    await once(sent, 'continue');
    sent.end('abc');
    expect(await told).toMatchObject({ status: 200, text: '{"size":3}' });
  });

  test('is asked for a body that is parsed, too', async () => {
    const server = await start();
    const headers = { ...expecting, 'content-length': 12, 'content-type': 'application/json' };
    const { sent, told } = begin(server, '/v1/things', headers);
    sent.flushHeaders();
    await once(sent, 'continue');
    sent.end('{"name":"a"}');
    expect(await told).toMatchObject({ status: 201 });
  });

  test.each([
    ['the caller', '/v1/slow', { authorization: 'Bearer wrong' }, 401],
    ['the query', '/v1/slow?wrong=1', {}, 400],
    ['the length', '/v1/slow', { 'content-length': 1_001 }, 413],
    ['the handler', '/v1/slow?check=fails', {}, 412],
    ['the path', '/v1/nothing', {}, 404],
  ])('is refused because of %s without being asked for the body', async (_, path, headers, status) => {
    const server = await start();
    const { sent, told } = begin(server, path, { ...expecting, ...headers });
    let asked = false;
    sent.on('continue', () => (asked = true));
    sent.flushHeaders();
    expect(await told).toMatchObject({ status, connection: 'close' });
    expect(asked).toBe(false);
  });
});
