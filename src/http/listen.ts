import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { newRequestId } from './exchange.ts';

export interface Listening {
  readonly server: Server;
  readonly host: string;
  readonly port: number;
  /** Stops accepting, lets requests in flight finish for at most `graceMs`, then cuts what is left. */
  readonly close: (graceMs: number) => Promise<void>;
}

/** The address cannot be had. The message is a sentence for the operator. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/** Limits that keep slow or greedy clients from holding what others need: bytes, and milliseconds. */
const usualLimits = {
  maxHeaderSize: 32 * 1024,
  headersTimeout: 15_000,
  requestTimeout: 300_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
};

/** Listens; rejects with a `ListenError` when the address cannot be had. `port` 0 takes a free one. */
export async function listen(
  handle: RequestListener,
  { host, port }: { host: string; port: number },
  limits: Partial<typeof usualLimits> = {},
): Promise<Listening> {
  const server = createServer({ ...usualLimits, ...limits }, handle);
  server.on('clientError', refuse);
  await new Promise<void>((resolve, reject) => {
    const refused = (error: NodeJS.ErrnoException) => reject(listenError(error, host, port));
    server.once('error', refused);
    server.listen({ host, port }, () => {
      server.off('error', refused);
      resolve();
    });
  });
  const address = server.address() as AddressInfo;
  return { server, host, port: address.port, close: (graceMs) => close(server, graceMs) };
}

function listenError({ code }: NodeJS.ErrnoException, host: string, port: number): ListenError {
  if (code === 'EADDRINUSE')
    return new ListenError(`Port ${port} on ${host} is taken. Choose another one with --port or PORT`);
  if (code === 'EACCES')
    return new ListenError(
      `Port ${port} may not be used by this user. Choose another one with --port or PORT`,
    );
  return new ListenError(`HOST must be an address of this machine, and ${host} is not (${code})`);
}

/** Rejects when the port is taken: said at once, not after a database was opened and migrated. */
export async function checkPort(address: { host: string; port: number }): Promise<void> {
  const { close } = await listen(() => {}, address);
  await close(0);
}

async function close(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Connections that were busy become idle one by one; each is closed as soon as it has its answer.
  const sweep = setInterval(() => server.closeIdleConnections(), 20);
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
}

const refusals: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** What is not HTTP gets an answer that says so, and no more. */
function refuse(error: Error & { code?: string }, socket: NodeJS.WritableStream & Partial<Socket>): void {
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
