import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request as it arrived. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What to answer; a body that is not text is sent as JSON. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Answers, or writes to the response itself and answers nothing. */
export type Respond = (request: Received, response: ServerResponse) => Reply | undefined;

export interface TestServer {
  readonly url: string;
  readonly requests: Received[];
}

/** A server on a free loopback port until the test is over. */
export async function serve(respond: Respond): Promise<TestServer> {
  const requests: Received[] = [];
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { method = '', url = '', headers } = incoming;
      const request = { method, url, headers, body: Buffer.concat(chunks).toString() };
      requests.push(request);
      const reply = respond(request, response);
      if (reply) send(response, reply);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

function send(response: ServerResponse, { status = 200, headers = {}, body }: Reply): void {
  const json = body !== undefined && typeof body !== 'string';
  response.writeHead(status, { ...(json && { 'Content-Type': 'application/json' }), ...headers });
  response.end(json ? JSON.stringify(body) : body);
}

/** Gives the answers one after the other, and repeats the last one for ever. */
export function inTurn(...replies: Respond[]): Respond {
  let turn = 0;
  return (request, response) => {
    const respond = replies[Math.min(turn, replies.length - 1)];
    turn += 1;
    return respond?.(request, response);
  };
}
