import { setTimeout as delay } from 'node:timers/promises';
import type { Outbound, OutboundStream } from '../lib/outbound.ts';
import { problemOf } from './problems.ts';

/** The request of an attempt, which is always a POST. */
export interface AttemptRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How a request ended: with the head of an answer, or without one, for a reason in words. */
export type Ending =
  | { readonly status: number; readonly retryAfter: string | readonly string[] | undefined }
  | { readonly problem: string };

/** What came of a request: how it ended, and the beginning of the answer's body as text. */
export interface Attempt {
  readonly ending: Ending;
  readonly response: string | null;
  readonly latencyMs: number;
  /** Milliseconds since 1970 by the clock of this process. */
  readonly startedAt: number;
}

/** The bytes of an answer's body that are kept. */
const mostKept = 1_024;
/** The most bytes and milliseconds of a body that are read, so that its connection can be used again. */
const mostRead = 64 * 1_024;
const longestReadMs = 1_000;

/**
 * Makes one request. The status line decides: whatever happens to the body after it changes nothing. It does not throw, because a
 * receiver that does not answer is a failed attempt.
 * @param timeoutMs from the start to the status line
 */
export async function attempt(
  outbound: Pick<Outbound, 'stream'>,
  { url, headers, body }: AttemptRequest,
  timeoutMs: number,
): Promise<Attempt> {
  const [startedAt, began] = [Date.now(), performance.now()];
  const ended = (ending: Ending, response: string | null): Attempt => ({
    ending,
    response,
    latencyMs: Math.round(performance.now() - began),
    startedAt,
  });
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(new DOMException('no answer in time', 'TimeoutError')),
    timeoutMs,
  );
  try {
    const answer = await outbound.stream({
      url,
      method: 'POST',
      headers,
      body,
      // The limit until the status line is the signal's; this one ends what reads the body.
      timeoutMs: timeoutMs + longestReadMs,
      maxBytes: mostRead,
      signal: late.signal,
    });
    clearTimeout(timer);
    const seen = ended({ status: answer.status, retryAfter: answer.headers['retry-after'] }, null);
    return { ...seen, response: await beginningOf(answer) };
  } catch (error) {
    return ended({ problem: problemOf(error) }, null);
  } finally {
    clearTimeout(timer);
  }
}

/** Reads a body to its end if it is short, and drops it otherwise, together with its connection. */
async function beginningOf(answer: OutboundStream): Promise<string> {
  const pieces: Uint8Array[] = [];
  const read = async () => {
    let kept = 0;
    for await (const piece of answer.body) {
      if (kept < mostKept) pieces.push(piece.subarray(0, mostKept - kept));
      kept += piece.length;
    }
  };
  const over = new AbortController();
  const late = delay(longestReadMs, undefined, { signal: over.signal }).then(() => answer.discard());
  await Promise.race([read(), late]).catch(() => {});
  over.abort();
  late.catch(() => {});
  return textOf(Buffer.concat(pieces));
}

/** Bytes that are no UTF-8 become replacement characters; the database takes no NUL. */
export const textOf = (bytes: Uint8Array): string =>
  new TextDecoder().decode(bytes).replaceAll('\0', '').slice(0, mostKept);
