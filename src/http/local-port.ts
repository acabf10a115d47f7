import { ReadableStream } from 'node:stream/web';
import type { Attempt } from '../../sdk/src/runtime/attempt.ts';
import type { Client } from '../../sdk/src/runtime/client.ts';
import { deadline } from '../../sdk/src/runtime/deadline.ts';
import type { Target } from '../../sdk/src/runtime/operation.ts';
import { Internal } from '../lib/errors.ts';
import { accessCheck, type Operator } from './access.ts';
import { answerShaper, type Shaped } from './answer.ts';
import type { Asker } from './asker.ts';
import { boundCursor } from './bound-cursor.ts';
import type { Answer } from './call.ts';
import { encode } from './events.ts';
import { handlerOf } from './handlers.ts';
import type { Operation } from './operation.ts';
import { portCall } from './port-call.ts';
import { portRequestReader } from './port-request.ts';
import type { Mounted } from './runtime.ts';
import type { ServerSentEvent } from './service.ts';
import { writtenBackCheck } from './written-back.ts';

/** A finished call: the handler's return value, and the status and headers that it set. */
interface Done {
  readonly result: unknown;
  readonly reply: Answer;
}

type CarryOut = (request: Readonly<Record<string, unknown>>, asker: Asker) => Promise<Done>;

/**
 * A client of a service of this process. It calls the handlers themselves, after the checks that a request passes: the asker's
 * rights, and the service's bounds and defaults. Such a call takes no turn of its own, since the request that causes it has one,
 * and is not counted as a request. `mounted` is called when a service is first asked, when all services have been created.
 */
export function localClient(mounted: () => Mounted, operator: Operator): Client {
  let calls: ReadonlyMap<string, OneCall> | undefined;
  const callOf = ({ name, operation: { verb, path } }: Target): OneCall => {
    calls ??= callsOf(mounted(), operator);
    const call = calls.get(`${verb} ${path}`);
    if (!call) throw Internal(new Error(`${name} is not built`));
    return call;
  };
  return {
    async send<Data>(target: Target, request: Readonly<Record<string, unknown>>, options: unknown) {
      const asker = options as Asker;
      const { carryOut, shape, streamed } = callOf(target);
      const { result, reply } = await carryOut(request, asker);
      if (streamed) return { ...(await collected<Data>(shape(reply, result))), requestId: asker.requestId };
      let made: Response | undefined;
      const response = () => (made ??= responseOf(shape(reply, result)));
      return {
        data: (target.operation.unread === true ? response() : result) as Data,
        // Only readers of pages look at the response, so other calls do not pay for it.
        get response() {
          return response();
        },
        requestId: asker.requestId,
      };
    },
    async open(target, request, options): Promise<Attempt> {
      const asker = options as unknown as Asker;
      const { carryOut, shape } = callOf(target);
      const { result, reply } = await carryOut(request, asker);
      return {
        data: undefined,
        response: responseOf(shape(reply, result)),
        requestId: asker.requestId,
        deadline: deadline(Infinity, asker.signal),
        failure: (thrown) => thrown as never,
      };
    },
  };
}

interface OneCall {
  readonly carryOut: CarryOut;
  readonly shape: (reply: Answer, result: unknown) => Shaped;
  /** Whether the handler returns an answer that is encoded as it is produced, and is therefore complete only at its end. */
  readonly streamed: boolean;
}

const callsOf = (mounted: Mounted, operator: Operator): ReadonlyMap<string, OneCall> =>
  new Map(
    mounted.operations.map((operation) => [
      `${operation.verb} ${operation.path}`,
      {
        carryOut: carrier(operation, mounted, operator),
        shape: answerShaper(operation),
        streamed: operation.streamed === true,
      },
    ]),
  );

/** Builds the call of one operation. The steps are those of `endpoint`, except for those that concern the wire. */
function carrier(operation: Operation, mounted: Mounted, operator: Operator): CarryOut {
  const { name, validators } = mounted;
  const handler = handlerOf(mounted, operation)!;
  const allow = accessCheck(operation, operator);
  const read = portRequestReader(operation, validators[operation.id] ?? {});
  const bound = boundCursor(operation);
  const checkWrittenBack = writtenBackCheck(operation, mounted, operator);
  return async (given, asker) => {
    allow(asker.caller);
    const call = portCall(asker, name, operator);
    const { request, written } = read(given, call);
    if (written) await checkWrittenBack?.(request, written, asker);
    bound?.open(request, call);
    const result: unknown = await handler(request as never, call);
    bound?.close(request, call, result);
    return { result, reply: call.reply };
  };
}

/** Reads an answer that is encoded as it is produced to its end, as the SDK does. */
async function collected<Data>(shaped: Shaped): Promise<{ data: Data; response: Response }> {
  const response = responseOf(shaped);
  const bytes = await response.bytes();
  return { data: JSON.parse(Buffer.from(bytes).toString()) as Data, response };
}

/** Answers that a caller of the SDK reads by itself: a page, a file, a redirect or a stream of events. */
function responseOf(shaped: Shaped): Response {
  const { status, contentType, headers } = shaped.head;
  const all = headersOf(headers);
  if (contentType !== null) all.set('Content-Type', contentType);
  return new Response(bodyOf(shaped), { status, headers: all });
}

function bodyOf(shaped: Shaped): BodyInit | null {
  if (shaped.kind === 'whole') return (shaped.head.body ?? null) as BodyInit | null;
  if (shaped.kind === 'upgrade')
    throw Internal(new Error('a call between services has no connection to upgrade'));
  return ReadableStream.from(shaped.kind === 'pieces' ? shaped.pieces : encoded(shaped.events)) as BodyInit;
}

async function* encoded(events: AsyncIterable<ServerSentEvent>): AsyncGenerator<Uint8Array> {
  for await (const event of events) yield Buffer.from(encode(event));
}

function headersOf(said: Answer['headers'] = {}): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(said))
    for (const one of [value].flat()) headers.append(name, one);
  return headers;
}
