import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { ServerSentEvent } from './service.ts';

/** Milliseconds without an event after which a comment keeps proxies from closing the connection. */
const heartbeat = 15_000;

export interface EventStream {
  readonly events: AsyncIterable<ServerSentEvent>;
  /** Ends the stream, for example when the server shuts down. */
  readonly signal: AbortSignal;
  /** Converts a failure of the events to the data that the client gets. */
  readonly failure: (thrown: unknown) => unknown;
}

/**
 * Writes events until they end, the client disconnects or the signal is aborted; `return` of the iterator is always called. A
 * client that reads slowly slows the iterator down. An error of the iterator becomes the last event, `error`.
 */
export async function sendEvents(
  res: ServerResponse,
  { events, signal, failure }: EventStream,
): Promise<void> {
  const iterator = events[Symbol.asyncIterator]();
  const ending = ended(res, signal);
  const beat = setInterval(() => res.write(':\n\n'), heartbeat);
  try {
    for (;;) {
      const next = await ending.or(iterator.next());
      if (next === undefined || next.done) break;
      beat.refresh();
      if (!res.write(encode(next.value))) await ending.or(once(res, 'drain'));
    }
  } catch (thrown) {
    res.write(encode({ event: 'error', data: failure(thrown) }));
  } finally {
    clearInterval(beat);
    ending.forget();
    res.end();
    // Not awaited: a generator that waits for its next event returns only after that event.
    iterator.return?.().catch(() => {});
  }
}

/**
 * Waits for a promise or for the end of the stream, whichever comes first. It does not use `Promise.race`: racing the same
 * promise for every event of a stream that lasts for days keeps all these events in memory.
 */
function ended(res: ServerResponse, signal: AbortSignal) {
  let over = res.closed || signal.aborted;
  let wake = () => {};
  const end = () => {
    over = true;
    wake();
  };
  res.once('close', end);
  signal.addEventListener('abort', end, { once: true });
  return {
    or<T>(promise: Promise<T>): Promise<T | undefined> {
      return new Promise((resolve, reject) => {
        wake = () => resolve(undefined);
        promise.then(resolve, reject);
        if (over) wake();
      });
    },
    forget() {
      res.off('close', end);
      signal.removeEventListener('abort', end);
    },
  };
}

/** Encodes one event. A field cannot contain line breaks: data is split at them, and the other fields lose them. */
export function encode({ event, data, id, comment, retry }: ServerSentEvent): string {
  let text = '';
  if (comment !== undefined) text += `: ${oneLine(comment)}\n`;
  if (retry !== undefined) text += `retry: ${Math.ceil(retry)}\n`;
  if (event !== undefined) text += `event: ${oneLine(event)}\n`;
  if (id !== undefined) text += `id: ${oneLine(id)}\n`;
  if (data !== undefined) {
    const body = typeof data === 'string' ? data : JSON.stringify(data);
    for (const line of body.split(/\r\n|\r|\n/)) text += `data: ${line}\n`;
  }
  return `${text}\n`;
}

const oneLine = (text: string) => text.replaceAll(/[\r\n\0]+/g, ' ');
