import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that a receiver got. */
export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Milliseconds of the monotonic clock. */
  readonly at: number;
}

export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** Decides about the answers from now on; by default every request is answered with 200. */
  answer(how: Answer): void;
  /** Cuts all connections. */
  close(): Promise<void>;
}

/** A status with headers and a body; or whatever the function does with the response. */
export type Answer = (
  request: Received,
  response: ServerResponse,
) => number | { status: number; headers?: Record<string, string>; body?: string | Buffer } | void;

/** Starts a receiver of webhooks on loopback. */
export async function startReceiver(how: Answer = () => 200): Promise<Receiver> {
  const received: Received[] = [];
  let answer = how;
  const server = createServer((request, response) => {
    void take(request).then((one) => {
      received.push(one);
      const what = answer(one, response);
      if (what === undefined) return;
      const { status, headers = {}, body = '' } = typeof what === 'number' ? { status: what } : what;
      response.writeHead(status, headers).end(body);
    });
  });
  const { port } = await listening(server);
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    received,
    answer: (next) => void (answer = next),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function take(request: IncomingMessage): Promise<Received> {
  const at = performance.now();
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const headers = request.headers as Record<string, string>;
  return { path: request.url ?? '', headers, body: Buffer.concat(pieces).toString(), at };
}

const listening = (server: Server) =>
  new Promise<AddressInfo>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve(server.address() as AddressInfo)),
  );
