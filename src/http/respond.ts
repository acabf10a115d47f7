import type { ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { Exchange } from './exchange.ts';

/** Several values of a name are several lines. */
export type Headers = Readonly<Record<string, string | readonly string[]>>;

/** A whole response, before it is written. */
export interface Outgoing {
  readonly status: number;
  readonly contentType: string | null;
  readonly headers: Headers | undefined;
  readonly body: string | Uint8Array | undefined;
}

/** Statuses whose answers have no content at all, so that a length of 0 would be a statement about something else. */
const empty: readonly number[] = [204, 304];

/** Writes a response in one go: no ETag to compute, the length known, the request id on it. */
export function respond(
  res: ServerResponse,
  { requestId }: Exchange,
  { status, contentType, headers, body }: Outgoing,
): void {
  const length =
    body === undefined ? 0 : typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
  const lines: (string | number)[] = ['X-Request-ID', requestId];
  if (contentType !== null) lines.push('Content-Type', contentType, 'X-Content-Type-Options', 'nosniff');
  if (!empty.includes(status) && headers?.['Content-Length'] === undefined)
    lines.push('Content-Length', length);
  pushHeaders(lines, headers);
  res.writeHead(status, lines);
  res.end(body);
}

function pushHeaders(lines: (string | number)[], headers: Headers | undefined): void {
  for (const name in headers) {
    const value = headers[name]!;
    if (typeof value === 'string') lines.push(name, value);
    else for (const one of value) lines.push(name, one);
  }
}

/** Writes the head of a response whose body follows piece by piece. */
export function respondHead(
  res: ServerResponse,
  { requestId }: Exchange,
  { status, contentType, headers }: Outgoing,
): void {
  const lines = ['X-Request-ID', requestId, 'X-Content-Type-Options', 'nosniff'];
  if (contentType !== null) lines.push('Content-Type', contentType);
  pushHeaders(lines, headers);
  res.writeHead(status, lines);
  res.flushHeaders();
}

/** Writes pieces as they come, at the pace of the client. An error cuts the connection: the length was not kept. */
export async function sendPieces(res: ServerResponse, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const gone = once(res, 'close');
  try {
    for await (const piece of pieces) {
      if (res.closed) break;
      if (!res.write(piece)) await Promise.race([once(res, 'drain'), gone]);
    }
    res.end();
  } catch (thrown) {
    res.destroy();
    throw thrown;
  }
}
