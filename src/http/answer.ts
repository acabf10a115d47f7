import { Internal } from '../lib/errors.ts';
import type { Answer } from './call.ts';
import { bareType, isJson } from './content-type.ts';
import type { Operation, Response } from './operation.ts';
import type { Outgoing } from './respond.ts';
import type { ServerSentEvent } from './service.ts';

/** A handler's result as it goes out: whole, as pieces, or as events. */
export type Shaped =
  | { readonly kind: 'whole'; readonly head: Outgoing }
  | { readonly kind: 'pieces'; readonly head: Outgoing; readonly pieces: AsyncIterable<Uint8Array> }
  | { readonly kind: 'events'; readonly head: Outgoing; readonly events: AsyncIterable<ServerSentEvent> };

/**
 * Shapes what the handlers of an operation return, by the content type that they chose, or the first that is documented
 * for their status.
 */
export function answerShaper({ id, verb, responses }: Operation): (reply: Answer, result: unknown) => Shaped {
  const byStatus = new Map(responses.map((response) => [response.status, response]));
  const success = responses.find(({ status }) => status < 400);
  if (!success) throw new Error(`${id} documents no success`);
  return (reply, result) => {
    const { status, contentType } = documented(reply, byStatus, success);
    const head = { status, contentType, headers: reply.headers, body: undefined };
    // What a HEAD says of the content is all that there is to it.
    if (contentType === null || verb === 'HEAD') return { kind: 'whole', head };
    const type = bareType(contentType);
    if (isJson(type)) return { kind: 'whole', head: { ...head, body: encodeJson(id, result) } };
    if (type === 'text/event-stream')
      return { kind: 'events', head, events: result as AsyncIterable<ServerSentEvent> };
    if (isPieces(result)) return { kind: 'pieces', head, pieces: result };
    if (typeof result === 'string' || result instanceof Uint8Array)
      return { kind: 'whole', head: { ...head, body: result } };
    throw Internal(new Error(`${id} answered neither text nor bytes`));
  };
}

/** The status that the handler chose, or the documented success; a `Content-Type` that it set is its own choice too. */
function documented(reply: Answer, byStatus: ReadonlyMap<number, Response>, success: Response) {
  const status = reply.statusCode ?? success.status;
  const contentType = reply.headers?.['Content-Type'];
  if (contentType === undefined)
    return { status, contentType: (byStatus.get(status) ?? success).contentTypes[0] ?? null };
  delete reply.headers!['Content-Type'];
  return { status, contentType: String(contentType) };
}

function encodeJson(id: string, result: unknown): string {
  const text: string | undefined = JSON.stringify(result);
  if (text === undefined) throw Internal(new Error(`${id} answered nothing`));
  return text;
}

const isPieces = (result: unknown): result is AsyncIterable<Uint8Array> =>
  typeof result === 'object' && result !== null && Symbol.asyncIterator in result;
