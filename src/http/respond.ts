import type { ServerResponse } from 'node:http';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Exchange } from './exchange.ts';

/** Response headers; several values of a name are sent as several lines. */
export type Headers = Readonly<Record<string, string | readonly string[]>>;

/** A complete response before it is written. */
export interface Outgoing {
  readonly status: number;
  readonly contentType: string | null;
  readonly headers: Headers | undefined;
  readonly body: string | Uint8Array | undefined;
}

/** Statuses whose responses never have content; a `Content-Length` of 0 would describe the resource instead. */
const empty: readonly number[] = [204, 304];

/** Writes a response at once, with its length and the request id and without an ETag. */
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

/** Writes the head of a response whose body follows piece by piece; it is sent with the first piece, unless it is flushed before. */
export function respondHead(
  res: ServerResponse,
  { requestId }: Exchange,
  { status, contentType, headers }: Outgoing,
): void {
  const lines = ['X-Request-ID', requestId, 'X-Content-Type-Options', 'nosniff'];
  if (contentType !== null) lines.push('Content-Type', contentType);
  pushHeaders(lines, headers);
  res.writeHead(status, lines);
}

export interface Sending {
  /** Milliseconds after which a client that takes nothing is cut off. */
  readonly silenceMs?: number | undefined;
  /** The text that ends the response after an error of the pieces, which it reports; without it the error is thrown. */
  readonly lastWords?: ((thrown: unknown) => string) | undefined;
}

/** Writes pieces as they arrive, at the pace of the client. An error cuts the connection, because the response is incomplete. */
export async function sendPieces(
  res: ServerResponse,
  pieces: AsyncIterable<Uint8Array>,
  { silenceMs, lastWords }: Sending = {},
): Promise<void> {
  const gone = once(res, 'close');
  const cut = () => res.destroy();
  // A piece that is there already leaves in one packet with the head; for a later one the head does not wait.
  const late = setImmediate(() => res.flushHeaders());
  try {
    for await (const piece of pieces) {
      clearImmediate(late);
      if (res.closed) break;
      if (res.write(piece)) continue;
      // The socket's own timer begins again whenever the client takes something, however little.
      if (silenceMs !== undefined) res.socket?.setTimeout(silenceMs, cut);
      await Promise.race([once(res, 'drain'), gone]);
      if (silenceMs !== undefined) res.socket?.setTimeout(0, cut);
    }
    res.end();
  } catch (thrown) {
    if (lastWords && !res.closed) {
      const sent = new Promise<void>((resolve) => res.write(lastWords(thrown), () => resolve()));
      await Promise.race([sent, gone]);
    }
    // What is written leaves by the next turn: the client learns the status, and that the rest is missing.
    await nextTurn();
    res.destroy();
    if (!lastWords) throw thrown;
  } finally {
    clearImmediate(late);
  }
}
