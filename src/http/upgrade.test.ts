import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import net from 'node:net';
import type { Duplex } from 'node:stream';
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

const handshake = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};
const asRoot = { authorization: `Bearer ${token}` };

/** Asks for an upgrade; returns the connection with the bytes received so far, or the response that refuses the upgrade. */
async function connect({ url }: Server, headers: Record<string, string>, path = '/v1/feed') {
  const { res, socket, head } = await new Promise<{ res: IncomingMessage; socket?: Duplex; head?: Buffer }>(
    (resolve, reject) => {
      const sent = request(url + path, { agent: false, headers });
      sent.on('upgrade', (res, socket, head) => resolve({ res, socket, head }));
      sent.on('response', (res) => resolve({ res })).on('error', reject);
      sent.end();
    },
  );
  if (!socket) return { status: res.statusCode, headers: res.headers, text: await text(res) };
  let said = String(head);
  socket.on('data', (piece: Buffer) => (said += String(piece)));
  const ended = new Promise((resolve) => socket.on('close', resolve).on('error', resolve));
  return { status: res.statusCode, headers: res.headers, socket, said: () => said, ended };
}

describe('an upgrade', () => {
  test('gives the connection to the service, which answers over it', async () => {
    const server = await start();
    const { status, headers, socket, said } = await connect(server, { ...handshake, ...asRoot });
    expect([status, headers]).toEqual([
      101,
      expect.objectContaining({
        connection: 'Upgrade',
        upgrade: 'websocket',
        // The example of RFC 6455, section 1.3.
        'sec-websocket-accept': 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
        'sec-websocket-protocol': 'demo',
        'x-request-id': expect.any(String),
      }),
    ]);
    socket!.write('hello');
    await vi.waitFor(() => expect(said!()).toBe('default: hello'));
    socket!.end();
    const logged = () => server.lines.find((line) => line.includes('demo.Raw.feed'));
    await vi.waitFor(() => expect(logged()).toContain('"status":101'));
    expect(logged()).not.toContain('aborted');
  });

  test.each<[what: string, headers: Record<string, string>, path: string, status: number]>([
    ['without a credential', handshake, '/v1/feed', 401],
    ['without the right', { ...handshake, 'x-demo-signature': 'link' }, '/v1/feed', 403],
    [
      'from a page of another host',
      { ...handshake, ...asRoot, origin: 'https://evil.example' },
      '/v1/feed',
      403,
    ],
    ['with an unknown parameter', { ...handshake, ...asRoot }, '/v1/feed?wrong=1', 400],
    ['with a malformed key', { ...handshake, ...asRoot, 'sec-websocket-key': 'a' }, '/v1/feed', 400],
    ['of another version', { ...handshake, ...asRoot, 'sec-websocket-version': '8' }, '/v1/feed', 426],
    ['that the handler refuses', { ...handshake, ...asRoot }, '/v1/feed?full=1', 503],
  ])('%s is refused with an ordinary response', async (_, headers, path, status) => {
    const server = await start();
    const refused = await connect(server, headers, path);
    expect(refused).toMatchObject({
      status,
      headers: { connection: expect.stringMatching(/^close$|^Upgrade$/) },
    });
    expect(JSON.parse(refused.text!)).toMatchObject({ error: { code: status } });
  });

  test('is open to pages of the same host, and of admitted origins', async () => {
    const server = await start({ origins: ['https://app.example.com'] });
    for (const origin of [server.origin, 'https://app.example.com']) {
      const { status, socket } = await connect(server, { ...handshake, ...asRoot, origin });
      expect(status).toBe(101);
      socket!.destroy();
    }
  });

  test('takes a token from a subprotocol, as browsers have no other place for it', async () => {
    const server = await start();
    const protocols = `demo, bearer.${Buffer.from(token).toString('base64url')}`;
    const { status, socket } = await connect(server, { ...handshake, 'sec-websocket-protocol': protocols });
    expect(status).toBe(101);
    socket!.destroy();
  });

  test('is refused when one caller has too many connections, until one of them closes', async () => {
    const server = await start();
    const headers = { ...handshake, ...asRoot };
    const crowd = await Promise.all(Array.from({ length: 100 }, () => connect(server, headers)));
    expect(crowd.every(({ status }) => status === 101)).toBe(true);
    expect((await connect(server, headers)).status).toBe(503);
    expect((await connect(server, { ...headers, 'x-tenant-id': 'acme' })).status).toBe(101);
    crowd[0]!.socket!.destroy();
    await vi.waitFor(async () => expect((await connect(server, headers)).status).toBe(101));
  });

  test('ends with the server: the service says goodbye', async () => {
    const server = await start();
    const leaving = await connect(server, { ...handshake, ...asRoot });
    server.end();
    await leaving.ended;
    expect(leaving.said!()).toBe('default: goodbye');
    const late = await connect(server, { ...handshake, ...asRoot });
    expect(late.status).toBe(503);
  });
});

test('a connection that does not close is cut when the server has waited long enough', async () => {
  const server = await demoServer();
  const socket = net.connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
  const lines = Object.entries({ host: 'x', ...handshake, ...asRoot }).map((header) => header.join(': '));
  socket.write(['GET /demo/v1/feed HTTP/1.1', ...lines, '', ''].join('\r\n'));
  const [head] = (await once(socket, 'data')) as [Buffer];
  expect(String(head)).toMatch(/^HTTP\/1\.1 101 /);
  const closed = once(
    socket.resume().on('error', () => {}),
    'close',
  );
  await server.close(50);
  socket.destroy();
  await closed;
});

describe('a request without an upgrade', () => {
  test('is told that one is needed', async () => {
    const server = await start();
    const { status, headers } = await server.send('GET', '/v1/feed');
    expect([status, headers.get('upgrade')]).toEqual([426, 'websocket']);
  });

  test('to an operation that knows none is handled as ever, whatever it asks for', async () => {
    const server = await start();
    const things = await connect(server, { ...handshake, ...asRoot }, '/v1/things');
    const other = await connect(server, { ...handshake, ...asRoot, upgrade: 'h2c' }, '/v1/feed');
    expect([things.status, other.status]).toEqual([200, 426]);
  });
});
