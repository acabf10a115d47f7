/**
 * The forms in which an upload may be given. Streams and iterables are read once, and as fast as they are sent. In Node a file
 * is one: `createReadStream(path)`.
 */
export type RawBody =
  Blob | ArrayBuffer | ArrayBufferView | string | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** The forms that can be sent unchanged. Not the platform's `BodyInit`, a type that only browsers declare. */
export type Sendable =
  Exclude<RawBody, AsyncIterable<Uint8Array>> | ReadableStream<Uint8Array> | URLSearchParams;

/** Whether a body is consumed when it is sent, so that it cannot be sent again. */
export const isReadOnce = (body: unknown): boolean => body instanceof ReadableStream || isIterable(body);

const isIterable = (body: unknown): body is AsyncIterable<Uint8Array> =>
  typeof body === 'object' && body !== null && Symbol.asyncIterator in body;

/** A body being sent. */
export interface Upload {
  readonly body: Sendable | undefined;
  /** Stops reading the rest of the body, which is no longer needed. */
  drop(): void;
}

/** Converts an iterable to a stream: only streams can be sent piece by piece on every platform. */
export function uploadOf(body: Sendable | AsyncIterable<Uint8Array> | undefined): Upload {
  if (body instanceof ReadableStream || !isIterable(body)) return { body, drop() {} };
  const iterator = body[Symbol.asyncIterator]();
  const end = async () => void (await iterator.return?.());
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await iterator.next();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
    cancel: end,
  });
  // A failure of the cleanup is not the cause of the call's failure.
  return { body: stream, drop: () => void end().catch(() => {}) };
}
