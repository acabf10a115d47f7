import type { Attempt } from './attempt.ts';
import { orAborted } from './deadline.ts';

/**
 * Returns the response of an attempt whose body the caller reads. When the body is cut off or stalls for longer than the
 * timeout, or when the caller aborts, it ends with the same error as any other call.
 */
export function download({ response, deadline, failure }: Attempt): Response {
  const { body, status, statusText, headers, url } = response;
  // The transport has already read the body of a redirect or a 304.
  if (body === null || response.bodyUsed) {
    deadline.end();
    return response;
  }
  const reader = body.getReader();
  const guarded = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        deadline.restart();
        try {
          const { done, value } = await orAborted(deadline.signal, reader.read());
          deadline.pause();
          if (!done) return controller.enqueue(value);
          deadline.end();
          controller.close();
        } catch (thrown) {
          // The deadline knows its reason until it ends.
          const error = failure(thrown);
          deadline.end();
          controller.error(error);
          reader.cancel(error).catch(() => {});
        }
      },
      cancel(reason) {
        deadline.end();
        return reader.cancel(reason);
      },
    },
    // Nothing is read before the caller asks for it.
    { highWaterMark: 0 },
  );
  const copy = new Response(guarded, { status, statusText, headers });
  return Object.defineProperty(copy, 'url', { value: url });
}
