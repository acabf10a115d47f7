import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { RequestTimeout } from '../lib/errors.ts';

/** The time that a request body may take, in milliseconds. */
export interface BodyTime {
  /** From the first read to the last byte. */
  readonly totalMs?: number;
  /** Between two pieces. */
  readonly silenceMs?: number;
}

/** How long a client whose body took too long may still read the response before its connection is cut. */
const graceMs = 10_000;

/** Connections on which a body arrives that may take longer than any request without limits of its own. */
const patient = new WeakSet<object>();

/** Whether the server's usual limit for a whole request does not apply to the connection now. */
export const isPatient = (socket: object): boolean => patient.has(socket);

/** Replaces the server's usual limit for a whole request by `totalMs`; later the connection is cut. */
export function allowTime(req: IncomingMessage, totalMs: number): void {
  const { socket }: { socket: Socket } = req;
  patient.add(socket);
  const cut = setTimeout(() => req.destroy(), totalMs + graceMs).unref();
  req.once('close', () => {
    clearTimeout(cut);
    patient.delete(socket);
  });
}

/**
 * Passes the pieces of a body on. Throws `RequestTimeout` when the client sends nothing for `silenceMs` while the reader waits for it,
 * or has not sent everything after `totalMs`.
 */
export async function* inTime(
  pieces: AsyncIterable<Buffer>,
  { totalMs, silenceMs }: BodyTime,
): AsyncGenerator<Buffer, void> {
  const iterator = pieces[Symbol.asyncIterator]();
  // `Promise.race` is not used: racing one promise for every piece of a long body keeps all pieces in memory.
  let fail: ((error: Error) => void) | undefined;
  let late: Error | undefined;
  const limit = (ms: number | undefined, error: () => Error, isFinal: boolean) =>
    ms === undefined
      ? undefined
      : setTimeout(() => {
          if (isFinal) late = error();
          fail?.(error());
        }, ms).unref();
  const total = limit(totalMs, () => RequestTimeout('body: took too long'), true);
  const silence = limit(silenceMs, () => RequestTimeout('body: stalled'), false);
  try {
    for (;;) {
      if (late) throw late;
      silence?.refresh();
      const next = await new Promise<IteratorResult<Buffer>>((resolve, reject) => {
        fail = reject;
        iterator.next().then(resolve, reject);
      });
      fail = undefined;
      if (next.done) return;
      yield next.value;
    }
  } finally {
    clearTimeout(total);
    clearTimeout(silence);
    // Not awaited: a body that stalls returns only when its next piece arrives.
    iterator.return?.().catch(() => {});
  }
}
