/**
 * What an upload may be given as. Streams and iterables are read once, and as fast as they are sent; in Node a file is one:
 * `createReadStream(path)`.
 */
export type RawBody =
  | Blob
  | ArrayBuffer
  | ArrayBufferView<ArrayBuffer>
  | string
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>;

/** Whether a body is gone once it was sent, so that it cannot be sent again. */
export const isReadOnce = (body: unknown): boolean => body instanceof ReadableStream || isIterable(body);

const isIterable = (body: unknown): body is AsyncIterable<Uint8Array> =>
  typeof body === 'object' && body !== null && Symbol.asyncIterator in body;

/** A body on its way. */
export interface Upload {
  readonly body: BodyInit | undefined;
  /** Lets go of what is still being read, since nobody wants the rest. */
  drop(): void;
}

/** Only streams can be sent piece by piece on every platform. */
export function uploadOf(body: BodyInit | AsyncIterable<Uint8Array> | undefined): Upload {
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
  // What goes wrong while letting go is not what the call failed by.
  return { body: stream, drop: () => void end().catch(() => {}) };
}
