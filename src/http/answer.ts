import { Internal } from '../lib/errors.ts';
import type { Answer } from './call.ts';
import { bareType, isJson } from './content-type.ts';
import { encodedList, isItems, jsonLines, streamedJson } from './encoded-stream.ts';
import type { Operation, Response } from './operation.ts';
import type { Outgoing } from './respond.ts';
import type { ServerSentEvent } from './service.ts';
import type { TakeOver } from './upgrade.ts';

/** Lists of so few items are encoded at once, whatever their size. */
const fewItems = 50;
const ndjson = 'application/x-ndjson';

/** A handler's result in the form in which it is sent: whole, in pieces, or as events. */
export type Shaped =
  | { readonly kind: 'whole'; readonly head: Outgoing }
  | {
      readonly kind: 'pieces';
      readonly head: Outgoing;
      readonly pieces: AsyncIterable<Uint8Array>;
      /** Set for items that are encoded as they are produced. */
      readonly encoded?: 'json' | 'lines';
    }
  | { readonly kind: 'upgrade'; readonly head: Outgoing; readonly accept: TakeOver }
  | { readonly kind: 'events'; readonly head: Outgoing; readonly events: AsyncIterable<ServerSentEvent> };

/**
 * Shapes what the handler of an operation returns, by the content type that the handler chose, or else by the first one
 * documented for the status. With `longInPieces`, a list that takes long to encode is sent in pieces; nobody can then look at it whole.
 */
export function answerShaper(
  { id, verb, responses, streamed }: Operation,
  longInPieces = false,
): (reply: Answer, result: unknown) => Shaped {
  const byStatus = new Map(responses.map((response) => [response.status, response]));
  const success = responses.find(({ status }) => status < 400);
  if (!success) throw new Error(`${id} documents no success`);
  return (reply, result) => {
    const { status, contentType } = documented(reply, byStatus, success);
    const head = { status, contentType, headers: reply.headers, body: undefined };
    if (status === 101) return { kind: 'upgrade', head, accept: result as TakeOver };
    // A HEAD response describes its content in headers and has no body.
    if (contentType === null || verb === 'HEAD') return { kind: 'whole', head };
    const type = bareType(contentType);
    if (streamed && isJson(type) && status < 400)
      return { kind: 'pieces', head, pieces: streamedJson(result), encoded: 'json' };
    if (isJson(type)) {
      // Only reads return long lists, and responses to writes may have to be kept whole for repeated requests.
      const divides = longInPieces && verb === 'GET' && Array.isArray(result) && result.length > fewItems;
      const body = divides ? encodedList(result) : encodeJson(id, result);
      return typeof body === 'string'
        ? { kind: 'whole', head: { ...head, body } }
        : { kind: 'pieces', head, pieces: body, encoded: 'json' };
    }
    if (type === 'text/event-stream')
      return { kind: 'events', head, events: result as AsyncIterable<ServerSentEvent> };
    if (type === ndjson && isItems(result))
      return { kind: 'pieces', head, pieces: jsonLines(result), encoded: 'lines' };
    if (isPieces(result)) return { kind: 'pieces', head, pieces: result };
    if (typeof result === 'string' || result instanceof Uint8Array)
      return { kind: 'whole', head: { ...head, body: result } };
    throw Internal(new Error(`${id} answered neither text nor bytes`));
  };
}

/** The status and the content type that the handler chose; by default, the documented success and its first content type. */
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

const isPieces = (result: unknown): result is AsyncIterable<Uint8Array> => isItems(result);
