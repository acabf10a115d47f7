import { createHash } from 'node:crypto';
import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Forbidden, Invalid, Unavailable, UpgradeRequired } from '../lib/errors.ts';
import type { Operation } from './operation.ts';
import type { Headers } from './respond.ts';

/** A connection that has left HTTP. It belongs to the service until it closes. */
export interface Upgraded {
  readonly socket: Duplex;
  /** Bytes that the client sent after its request. */
  readonly head: Uint8Array;
  /** Aborted when the server shuts down: the service says goodbye, and after the grace period the connection is cut. */
  readonly ending: AbortSignal;
}

/** Takes a connection over after the `101 Switching Protocols`; what a handler of an operation with that status returns. */
export type TakeOver = (connection: Upgraded) => void;

/** Requests that asked for an upgrade, and the bytes that came after each. */
const upgrading = new WeakMap<IncomingMessage, Uint8Array>();

/** Whether a request asks to turn the connection into a WebSocket. */
export const asksForWebSocket = ({ headers }: IncomingMessage): boolean =>
  headers.upgrade?.toLowerCase() === 'websocket';

/**
 * The response to a request on a connection from which Node has removed its HTTP parser. With it such a request is handled like
 * any other: until it is accepted, every answer is an ordinary response, after which the connection closes.
 */
export function responseToUpgrade(
  req: IncomingMessage,
  socket: Socket,
  head: Uint8Array,
): ServerResponse | undefined {
  socket.on('error', () => socket.destroy());
  const res = new ServerResponse(req);
  res.shouldKeepAlive = false;
  try {
    res.assignSocket(socket);
  } catch {
    // Responses to earlier requests are still being sent on this connection.
    socket.destroy();
    return undefined;
  }
  res.once('finish', () => socket.end());
  upgrading.set(req, head);
  return res;
}

/** Whether an operation turns the connection into another protocol. */
export const upgrades = ({ responses }: Operation): boolean => responses.some(({ status }) => status === 101);

/**
 * Throws `Forbidden` for a page of another origin: browsers send no preflight for WebSockets, so nothing else would keep the page out.
 */
export function checkOrigin(
  { headers: { origin, host } }: IncomingMessage,
  isAdmitted: (origin: string) => boolean,
): void {
  if (origin === undefined || URL.parse(origin)?.host === host || isAdmitted(origin)) return;
  throw Forbidden('origin not allowed');
}

/** Throws `UpgradeRequired` unless the request asks for a WebSocket of version 13, and `Invalid` when its key is malformed (RFC 6455). */
export function checkHandshake(req: IncomingMessage): void {
  const version = req.headers['sec-websocket-version'];
  if (!upgrading.has(req) || version !== '13')
    throw UpgradeRequired('upgrade required', { protocol: 'websocket' });
  const key = req.headers['sec-websocket-key'];
  if (key === undefined || Buffer.from(key, 'base64').length !== 16)
    throw Invalid('Sec-WebSocket-Key: must be 16 bytes in base64');
}

/** Sends the `101` and gives the connection to the service. `release` is called when it closes. */
export function takeOver(
  req: IncomingMessage,
  res: ServerResponse,
  {
    accept,
    headers,
    ending,
    release,
  }: { accept: TakeOver; headers: Headers; ending: AbortSignal; release: () => void },
): void {
  const { socket } = req;
  if (ending.aborted) {
    release();
    throw Unavailable('shutting down');
  }
  socket.setTimeout(0).setNoDelay(true);
  socket.once('close', release);
  const lines = ['Connection', 'Upgrade', 'Upgrade', 'websocket', 'Sec-WebSocket-Accept', acceptOf(req)];
  for (const [name, value] of Object.entries(headers))
    if (name.toLowerCase() !== 'upgrade') for (const one of [value].flat()) lines.push(name, one);
  res.writeHead(101, lines);
  res.flushHeaders();
  accept({ socket, head: upgrading.get(req)!, ending });
}

/** The proof that the server understood the handshake (RFC 6455, section 4.2.2). */
const acceptOf = ({ headers }: IncomingMessage): string =>
  createHash('sha1')
    .update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
