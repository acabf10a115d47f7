/** The WebSocket feeds of the contract: one message of each documented kind, with its example, after which the feed ends. */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { exampleOf, type Document } from '../contract/document.ts';

/** Answers requests to upgrade the connection. For a path that is not a feed, it answers 404 and closes the connection. */
export function upgrader(mocked: readonly { readonly name: string; readonly document: Document }[]) {
  const feeds = new Map<string, readonly unknown[]>();
  for (const { name, document } of mocked) {
    for (const [path, { get }] of Object.entries(document.paths)) {
      const messages = Object.values(get?.['x-messages'] ?? {});
      const examples = messages.map((schema) => exampleOf(document, schema));
      if (messages.length > 0) feeds.set(`/${name}${path}`, examples);
    }
  }
  return ({ url = '', headers }: IncomingMessage, socket: Duplex): void => {
    const messages = feeds.get(url.split('?', 1)[0] ?? '');
    const key = headers['sec-websocket-key'];
    // Messages from clients are read and dropped, because a socket that is never read never ends.
    socket.on('error', () => socket.destroy()).resume();
    if (!messages || key === undefined) {
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    socket.write(handshake(key, headers['sec-websocket-protocol']));
    for (const message of messages) socket.write(frame(0x1, Buffer.from(JSON.stringify(message))));
    socket.end(frame(0x8, Buffer.from([0x03, 0xe8])));
  };
}

/** Returns the RFC 6455 response that turns the connection into a WebSocket. It accepts the first of the offered protocols. */
function handshake(key: string, protocols: string | undefined): string {
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
  lines.push(`Sec-WebSocket-Accept: ${accept}`);
  if (protocols !== undefined) lines.push(`Sec-WebSocket-Protocol: ${protocols.split(',')[0]!.trim()}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** Builds a whole message in one frame of at most 64 KiB, unmasked as servers send it. */
function frame(opcode: number, payload: Buffer): Buffer {
  const long = payload.length > 125;
  const head = Buffer.alloc(long ? 4 : 2);
  head[0] = 0x80 | opcode;
  head[1] = long ? 126 : payload.length;
  if (long) head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, payload]);
}
