import type { ServerResponse } from 'node:http';

/** A whole answer, before it is written. */
export interface Outgoing {
  readonly status: number;
  readonly contentType: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

/** Writes an answer behind the headers that were set already. */
export function write(res: ServerResponse, { status, contentType, headers, body }: Outgoing): void {
  if (contentType !== null) res.setHeader('Content-Type', contentType);
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  if (status !== 204) res.setHeader('Content-Length', body === undefined ? 0 : Buffer.byteLength(body));
  res.writeHead(status).end(body);
}
