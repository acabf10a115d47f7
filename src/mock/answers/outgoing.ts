import type { ServerResponse } from 'node:http';

/** A complete answer, before it is written. */
export interface Outgoing {
  readonly status: number;
  readonly contentType: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

/** Writes an answer after the headers that were already set. */
export function write(res: ServerResponse, { status, contentType, headers, body }: Outgoing): void {
  if (contentType !== null) res.setHeader('Content-Type', contentType);
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  // The answer to a HEAD request gives the length of the body that it omits.
  const isTold = body === undefined && 'Content-Length' in headers;
  if (status !== 204 && !isTold)
    res.setHeader('Content-Length', body === undefined ? 0 : Buffer.byteLength(body));
  res.writeHead(status).end(body);
}
