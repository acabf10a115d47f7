import type { IncomingMessage } from 'node:http';
import { operations, type Operation, type ServiceName } from '../../generated/operations.ts';
import type { Validators } from '../http/operation.ts';
import { requestReader } from '../http/request.ts';
import { readDocument } from './document.ts';
import { envelopes } from './envelope.ts';
import type { Outgoing } from './outgoing.ts';
import { preference } from './preference.ts';
import { prismAnswers } from './prism.ts';
import { eventStream, plainBody } from './raw.ts';

/** One service of the mock. */
export interface MockedService {
  readonly name: ServiceName;
  readonly operations: readonly MockedOperation[];
  /** The documented body of a failure, with this message. */
  envelope(status: number, message: string): unknown;
}

export interface MockedOperation {
  readonly verb: string;
  readonly path: string;
  /** True when it needs no credentials. */
  readonly public: boolean;
  /** Reads the request, throws a `DomainError` for what is wrong with it, and answers an example. */
  answer(req: IncomingMessage, params: Readonly<Record<string, string>>): Promise<Outgoing>;
}

/** Prepares the mock of one service from its document, its validators and its part of the operations table. */
export async function mockService(name: ServiceName): Promise<MockedService> {
  const document = readDocument(name);
  const answers = await prismAnswers(document);
  const { validators } = (await import(`../../generated/${name}/validators.js`)) as {
    validators: Readonly<Record<string, Validators>>;
  };
  const own = operations.filter(({ service }) => service === name);
  return {
    name,
    envelope: envelopes(document),
    operations: own.map((operation) => {
      const read = requestReader(operation, validators[operation.id] ?? {});
      return {
        verb: operation.verb,
        path: operation.path,
        public: operation.access === 'public',
        async answer(req, params) {
          const request = await read(req, params, undefined);
          await drained(request['body']);
          const outgoing = await answers(operation, preference(req.headers));
          const { contentType } = outgoing;
          const body = isRaw(contentType) ? raw(operation, contentType) : outgoing.body;
          return { ...outgoing, body, headers: lastPage(request, outgoing.headers) };
        },
      };
    }),
  };

  function raw(operation: Operation, contentType: string): string | Uint8Array {
    return contentType === 'text/event-stream'
      ? eventStream(document, operation.id)
      : plainBody(document, operation.id, contentType);
  }
}

/** What Prism cannot serve: streams of events and anything that is neither JSON nor nothing. */
const isRaw = (contentType: string | null): contentType is string =>
  contentType !== null && !/^application\/([a-z.-]+\+)?json$/.test(contentType);

/** Every list of the mock has two pages, so that clients can be tried that walk to the end. */
function lastPage(request: Record<string, unknown>, headers: Outgoing['headers']): Outgoing['headers'] {
  if (request['cursor'] === undefined) return headers;
  const { 'X-Next-Cursor': _more, ...others } = headers;
  return others;
}

/** A body that is neither JSON nor a form arrives as a stream, which has to be read even if nobody wants it. */
async function drained(body: unknown): Promise<void> {
  if (typeof body !== 'object' || body === null || !(Symbol.asyncIterator in body)) return;
  for await (const _piece of body as AsyncIterable<Uint8Array>);
}
