import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** What an odd server does with a connection. */
export type Oddity = (socket: Socket) => void;

/** Bytes that are part of no protocol. */
const noise = Buffer.from(Array.from({ length: 4_096 }, (_, at) => (at * 167 + 13) % 256));

/** Sends without end, as fast as it is read. */
function endlessly(socket: Socket, piece: Buffer): void {
  const more = (): void => {
    if (socket.destroyed) return;
    if (socket.write(piece)) setImmediate(more);
    else socket.once('drain', more);
  };
  more();
}

/** What a server may do that speaks another protocol, is broken, or wants to do harm. */
export const oddities: readonly (readonly [string, Oddity])[] = [
  ['ends at once', (socket) => socket.end()],
  ['resets the connection', (socket) => socket.resetAndDestroy()],
  ['sends noise at once', (socket) => socket.write(noise)],
  ['answers with noise', (socket) => socket.on('data', () => socket.write(noise))],
  ['answers with zeros', (socket) => socket.on('data', () => socket.write(Buffer.alloc(4_096)))],
  [
    'answers with a page',
    (socket) => socket.on('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n<p>')),
  ],
  ['sends a line without end', (socket) => endlessly(socket, Buffer.alloc(16_384, 'x'))],
  ['sends noise without end', (socket) => endlessly(socket, noise)],
];

/** Starts a server that does the same with every connection, until the test ends. Returns its port. */
export async function oddServer(oddity: Oddity): Promise<number> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket.on('error', () => {}).on('close', () => open.delete(socket)));
    socket.resume();
    oddity(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}
