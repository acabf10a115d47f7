import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { connectionsWithin, descriptorLimit } from '../db/descriptors.ts';
import { isPatient } from './body-time.ts';
import { boundConnections } from './connections.ts';
import { newRequestId } from './exchange.ts';
import { noteExpectation } from './expectation.ts';
import { limitPipelining } from './pipelining.ts';
import { asksForWebSocket, responseToUpgrade } from './upgrade.ts';

export interface Listening {
  readonly server: Server;
  readonly host: string;
  readonly port: number;
  /**
   * Stops accepting connections, lets requests in flight finish for at most `graceMs`, then cuts the remaining connections. The
   * responses of these requests announce that the connection closes.
   */
  readonly close: (graceMs: number) => Promise<void>;
}

/** The server cannot listen on the address. The message is a sentence for the operator. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/** Limits that keep slow or greedy clients from holding resources that others need, in bytes and milliseconds. */
const usualLimits = {
  maxHeaderSize: 32 * 1024,
  headersTimeout: 12_000,
  requestTimeout: 300_000,
  keepAliveTimeout: 65_000,
  // Together with `headersTimeout`: a client that has sent no complete head is disconnected after at most 15 seconds.
  connectionsCheckingInterval: 3_000,
};

interface Place {
  readonly host: string;
  readonly port: number;
  /**
   * Whether connections may be upgraded at this URL. Elsewhere a request for an upgrade is handled as an ordinary request.
   * Without this function, the listeners of the server's own event decide.
   */
  readonly upgrades?: ((url: string) => boolean) | undefined;
}

/** Starts to listen; rejects with a `ListenError` when the address is not available. `port` 0 takes a free port. */
export async function listen(
  handle: RequestListener,
  { host, port, upgrades }: Place,
  limits: Partial<typeof usualLimits> = {},
): Promise<Listening> {
  const pipelining = limitPipelining(handle);
  const upgraded = new Set<Socket>();
  const server = createServer(
    { ...usualLimits, ...limits, ...(upgrades && { shouldUpgradeCallback: upgradesAt(upgrades) }) },
    pipelining.handle,
  );
  if (upgrades)
    server.on('upgrade', (req: IncomingMessage, socket: Socket, head: Buffer) => {
      upgraded.add(socket);
      socket.once('close', () => upgraded.delete(socket));
      const res = responseToUpgrade(req, socket, head);
      if (res) handle(req, res);
    });
  server.on('checkContinue', (req, res) => {
    noteExpectation(req, res);
    pipelining.handle(req, res);
  });
  server.on('clientError', refuse);
  boundConnections(server, connectionsWithin(descriptorLimit()));
  await new Promise<void>((resolve, reject) => {
    const refused = (error: NodeJS.ErrnoException) => reject(listenError(error, host, port));
    server.once('error', refused);
    server.listen({ host, port }, () => {
      server.off('error', refused);
      // A connection that could not be accepted, for example because the machine has too many, concerns its client alone.
      server.on('error', () => {});
      resolve();
    });
  });
  const address = server.address() as AddressInfo;
  const end = (graceMs: number) => {
    pipelining.end();
    return close(server, upgraded, graceMs);
  };
  return { server, host, port: address.port, close: end };
}

const upgradesAt = (upgrades: (url: string) => boolean) => (req: IncomingMessage) =>
  asksForWebSocket(req) && upgrades(req.url ?? '/');

function listenError({ code }: NodeJS.ErrnoException, host: string, port: number): ListenError {
  if (code === 'EADDRINUSE')
    return new ListenError(`Port ${port} on ${host} is taken. Choose another one with --port or PORT`);
  if (code === 'EACCES')
    return new ListenError(
      `Port ${port} may not be used by this user. Choose another one with --port or PORT`,
    );
  return new ListenError(`HOST must be an address of this machine, and ${host} is not (${code})`);
}

/** Rejects when the port is taken, so that the operator learns it before a database is opened and migrated. */
export async function checkPort(address: { host: string; port: number }): Promise<void> {
  const { close } = await listen(() => {}, address);
  await close(0);
}

async function close(server: Server, upgraded: ReadonlySet<Socket>, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Busy connections become idle one by one; each is closed as soon as its response is sent.
  const sweep = setInterval(() => server.closeIdleConnections(), 20);
  const cut = setTimeout(() => {
    server.closeAllConnections();
    for (const socket of upgraded) socket.destroy();
  }, graceMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
}

const refusals: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** Answers input that is not valid HTTP with a minimal error response. */
function refuse(error: Error & { code?: string }, socket: NodeJS.WritableStream & Partial<Socket>): void {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isPatient(socket)) return;
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy?.();
    return;
  }
  const status = refusals[error.code ?? ''] ?? '400 Bad Request';
  const body = JSON.stringify({ error: status.slice(4).toLowerCase() });
  const head = [
    `HTTP/1.1 ${status}`,
    'Connection: close',
    `X-Request-ID: ${newRequestId()}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
