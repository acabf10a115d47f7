/** Receivers that do their worst, each for its own lane only. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { deflateRawSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { certificate, certificateKey } from './testing/certificate.ts';
import { dispatching } from './testing/dispatching.ts';

const one = dispatching();

const open: { close(): unknown }[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

/** What a receiver does with a connection when a whole request has arrived. */
type Deed = (socket: Socket) => void;

/** A receiver that speaks for itself. Returns its URL. */
async function receiver(deed: Deed): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let seen = '';
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    socket.on('data', (bytes) => {
      seen += bytes.toString('latin1');
      if (!/\r\n\r\n.+\}$/s.test(seen)) return;
      seen = '';
      deed(socket);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
}

/** Writes a piece every few milliseconds for as long as the connection lasts. */
const endlessly = (socket: Socket, piece: () => string | Buffer) => {
  const timer = setInterval(() => socket.writable && socket.write(piece()), 5);
  socket.on('close', () => clearInterval(timer));
};

const head = 'HTTP/1.1 200 OK\r\n';
const bomb = deflateRawSync(Buffer.alloc(64 * 1_024 * 1_024));

const receivers: readonly (readonly [name: string, deed: Deed, expected: object])[] = [
  [
    'whose status line comes byte by byte',
    (socket) => {
      const bytes = [...`${head}\r\n`];
      endlessly(socket, () => (bytes.length > 12 ? bytes.shift()! : ''));
    },
    { state: 'pending', last_error: 'timeout' },
  ],
  [
    'whose headers never end',
    (socket) => {
      socket.write(head);
      endlessly(socket, () => 'x-a: b\r\n');
    },
    { state: 'pending', last_error: 'timeout' },
  ],
  [
    'with one header without end',
    (socket) => {
      socket.write(`${head}x-a: `);
      endlessly(socket, () => 'x'.repeat(4_000));
    },
    { state: 'pending', last_error: 'invalid response' },
  ],
  [
    'that announces an answer again and again',
    (socket) => endlessly(socket, () => 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'),
    { state: 'pending', last_error: 'timeout' },
  ],
  [
    'that wants to speak another protocol',
    (socket) =>
      void socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    { state: 'pending', last_error: 'connection reset' },
  ],
  [
    'whose body never ends',
    (socket) => {
      socket.write(`${head}transfer-encoding: chunked\r\n\r\n`);
      endlessly(socket, () => `1000\r\n${'x'.repeat(4_096)}\r\n`);
    },
    { state: 'delivered', last_response: 'x'.repeat(1_024) },
  ],
  [
    'whose chunks have extensions without end',
    (socket) => {
      socket.write(`${head}transfer-encoding: chunked\r\n\r\n1;`);
      endlessly(socket, () => 'x'.repeat(1_000));
    },
    { state: 'delivered', last_response: '' },
  ],
  [
    'whose trailers never end',
    (socket) => {
      socket.write(`${head}transfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n`);
      endlessly(socket, () => 'x-a: b\r\n');
    },
    { state: 'delivered', last_response: 'ok' },
  ],
  [
    'with a compressed bomb',
    (socket) => {
      socket.write(`${head}content-encoding: deflate\r\ncontent-length: ${bomb.length}\r\n\r\n`);
      socket.write(bomb);
    },
    { state: 'delivered' },
  ],
  [
    'that speaks no HTTP',
    (socket) => void socket.write('SSH-2.0-OpenSSH_9.2\r\n'),
    { state: 'pending', last_error: 'invalid response' },
  ],
  [
    'with two lengths',
    (socket) => void socket.write(`${head}content-length: 2\r\ncontent-length: 3\r\n\r\nabc`),
    { state: 'pending', last_error: 'invalid response' },
  ],
  [
    'with a length and chunks',
    (socket) => void socket.write(`${head}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`),
    { state: 'pending', last_error: 'invalid response' },
  ],
  [
    'with an impossible status',
    (socket) => void socket.write('HTTP/1.1 999 Whatever\r\ncontent-length: 0\r\n\r\n'),
    { state: 'pending', last_error: 'http 999', last_status_code: 999 },
  ],
  [
    'that resets the connection in the middle of its headers',
    (socket) => {
      socket.write(`${head}x-a: b\r\n`, () => socket.resetAndDestroy());
    },
    { state: 'pending', last_error: 'connection reset' },
  ],
  [
    'that wants to be left alone for thirty thousand years',
    (socket) =>
      void socket.write(
        'HTTP/1.1 503 Busy\r\nretry-after: 1000000000000\r\ncontent-length: 0\r\nconnection: close\r\n\r\n',
      ),
    { state: 'pending', last_error: 'http 503' },
  ],
];

it('receivers that do their worst all at once do it to their own deliveries only', async () => {
  const neighbour = await one.make.endpoint({ url: one.receiver.url });
  const rows: [name: string, id: string][] = [];
  for (const [name, deed] of receivers) {
    const endpoint = await one.make.endpoint({ url: await receiver(deed), timeout_ms: 1_000 });
    const [id] = await one.make.deliveries(endpoint, 1);
    rows.push([name, id!]);
  }
  await one.make.deliveries(neighbour, 100);
  await one.start();
  const outcomes = async () => {
    const seen: [string, Record<string, unknown>][] = [];
    for (const [name, id] of rows) seen.push([name, await one.make.delivery(id)]);
    return Object.fromEntries(seen);
  };
  await expect
    .poll(async () => Object.values(await outcomes()).filter((seen) => seen['attempt_count'] === 1).length, {
      timeout: 20_000,
    })
    .toBe(receivers.length);
  expect(await outcomes()).toMatchObject(
    Object.fromEntries(receivers.map(([name, _, expected]) => [name, expected])),
  );
  await expect.poll(() => one.receiver.received.length, { timeout: 20_000 }).toBe(100);
});

describe('a receiver', () => {
  it('is left alone for a day at most', async () => {
    const url = await receiver(
      (socket) => void socket.write('HTTP/1.1 429 No\r\nretry-after: 1e999, 5\r\nretry-after: 7\r\n\r\n'),
    );
    const endpoint = await one.make.endpoint({ url });
    const [id] = await one.make.deliveries(endpoint, 1);
    await one.start();
    await expect.poll(async () => (await one.make.delivery(id!))['attempt_count']).toBe(1);
    const [row] = await one.db.sql<[{ wait: number }]>`
      select extract(epoch from retry_at - now())::float8 as wait from webhooks.lane where endpoint_id = ${endpoint}`;
    expect(row.wait).toBeLessThanOrEqual(24 * 3_600);
  });

  it('that sends more answers than it was asked for answers no later request with them', async () => {
    let requests = 0;
    const url = await receiver((socket) => {
      requests += 1;
      const poison = 'HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n'.repeat(5);
      socket.write(`${head}content-length: 2\r\n\r\nok${poison}`);
    });
    const endpoint = await one.make.endpoint({ url, max_concurrency: 1 });
    await one.make.deliveries(endpoint, 10);
    await one.start();
    await one.settled({ delivered: 10 });
    expect(requests).toBe(10);
  });

  it.each([
    ['a certificate for which nobody vouches', [], 'tls: depth zero self signed cert'],
    ['a certificate of another name', [certificate], 'tls: cert altname invalid'],
  ])('with %s gets nothing', async (_, trusted, last_error) => {
    const usual = getCACertificates('default');
    setDefaultCACertificates([...usual, ...trusted]);
    let said = '';
    const server = createTlsServer({ cert: certificate, key: certificateKey }, (socket) => {
      socket.on('data', (bytes) => (said += bytes.toString())).on('error', () => {});
    });
    server.on('tlsClientError', () => {}).listen(0, '127.0.0.1');
    await once(server, 'listening');
    open.push({
      close() {
        setDefaultCACertificates(usual);
        server.close();
      },
    });
    const { port } = server.address() as AddressInfo;
    const endpoint = await one.make.endpoint({ url: `https://127.0.0.1:${port}/` });
    const [id] = await one.make.deliveries(endpoint, 1);
    await one.start();
    await expect.poll(() => one.make.delivery(id!)).toMatchObject({ state: 'pending', last_error });
    expect(said).toBe('');
  });

  it.each(['localhost', 'hooks.localhost', 'localhost.'])(
    'of the server itself is not reached by the name %s',
    async (name) => {
      const { port } = new URL(one.receiver.url);
      const endpoint = await one.make.endpoint({ url: `https://${name}:${port}/` });
      const [id] = await one.make.deliveries(endpoint, 1);
      await one.start({ deps: { allowPrivateTargets: false } });
      await expect
        .poll(() => one.make.delivery(id!))
        .toMatchObject({ state: 'failed', last_error: 'address not allowed' });
    },
  );
});
