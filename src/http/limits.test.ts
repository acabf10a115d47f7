import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { listen, type Listening } from './listen.ts';

let listening: Listening;
afterEach(() => listening.close(0));

const limits = {
  headersTimeout: 200,
  requestTimeout: 400,
  keepAliveTimeout: 100,
  connectionsCheckingInterval: 20,
};

/** Sends only these pieces, and returns all that the server sent until it closed the connection. */
async function conversation(handle: RequestListener, ...pieces: string[]): Promise<string> {
  listening = await listen(handle, { host: '127.0.0.1', port: 0 }, limits);
  const socket = connect({ port: listening.port, host: '127.0.0.1', allowHalfOpen: true });
  await once(socket, 'connect');
  for (const piece of pieces) socket.write(piece);
  const received = await text(socket);
  socket.destroy();
  return received;
}

const unexpected: RequestListener = () => {
  throw new Error('the request is not complete');
};
const echo: RequestListener = (req, res) => void req.pipe(res);

test('a client that does not finish its headers is told, and cut off', async () => {
  const received = await conversation(unexpected, 'GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ');
  expect(received).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\nConnection: close\r\n/);
  expect(received).toMatch(/\r\nX-Request-ID: \S+\r\n/);
  expect(received).toMatch(/\r\n\r\n\{"error":"request timeout"\}$/);
});

test('a client that connects and says nothing is cut off', async () => {
  expect(await conversation(unexpected)).toMatch(/^HTTP\/1\.1 408 |^$/);
});

test('a client that does not finish its body is told, and cut off', async () => {
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n';
  const received = await conversation((req) => void req.resume(), head, 'half ');
  expect(received).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
});

test('a connection that is idle after its answer is closed', async () => {
  const received = await conversation(echo, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
});

test('an answer may take longer than a request may', async () => {
  const slow: RequestListener = (_req, res) => {
    res.write('begun, ');
    setTimeout(() => res.end('finished'), 3 * limits.requestTimeout);
  };
  const received = await conversation(slow, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  expect(received).toMatch(/begun, [^]*finished/);
});

test('headers that are too large are refused', async () => {
  const received = await conversation(
    unexpected,
    `GET / HTTP/1.1\r\nHost: a\r\nX-Large: ${'a'.repeat(40_000)}\r\n\r\n`,
  );
  expect(received).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/);
});
