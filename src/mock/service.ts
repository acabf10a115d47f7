import type { IncomingMessage } from 'node:http';
import { operations, type Operation, type ServiceName } from '../../generated/operations.ts';
import type { Validators } from '../http/operation.ts';
import { requestReader, type ReadRequest } from '../http/request.ts';
import { operationOf, readDocument, type Document } from './document.ts';
import { envelopes } from './envelope.ts';
import { contentTypeFor } from './negotiation.ts';
import type { Outgoing } from './outgoing.ts';
import { preference } from './preference.ts';
import type { Answers } from './prism.ts';
import { eventStream, plainBody } from './raw.ts';
import { remembering, type Remember } from './remembering.ts';
import type { Memory } from './memory.ts';

/** One service of the mock. */
export interface MockedService {
  readonly name: ServiceName;
  readonly document: Document;
  readonly operations: readonly MockedOperation[];
  /** The documented body of a failure, with this message. */
  envelope(status: number, message: string): unknown;
}

export interface MockedOperation {
  readonly verb: string;
  /** Its path, and the other one that means the same. */
  readonly paths: readonly string[];
  /** True when it needs no credentials. */
  readonly public: boolean;
  /** Reads the request, throws a `DomainError` for what is wrong with it, and answers an example. */
  answer(req: IncomingMessage, params: Readonly<Record<string, string>>): Promise<Outgoing>;
}

/** What takes long to prepare and is prepared when the first request of a service comes. */
interface Prepared {
  readonly answers: Answers;
  readonly readerOf: (operation: Operation) => ReadRequest;
  readonly remember: Remember | undefined;
}

/** The mock of one service from its document and its part of the operations table. With a memory it remembers what is sent. */
export function mockService(name: ServiceName, memory: Memory | undefined): MockedService {
  const document = readDocument(name);
  const own = operations.filter(({ service }) => service === name);
  const prepared = once(() => prepare(name, document, own, memory));
  return {
    name,
    document,
    envelope: envelopes(document),
    operations: own.map((operation) => {
      const alias = operationOf(document, operation.id)['x-alias'];
      return {
        verb: operation.verb,
        paths: alias === undefined ? [operation.path] : [operation.path, alias],
        public: operation.access === 'public',
        answer: async (req, params) => answer(document, operation, await prepared(), req, params),
      };
    }),
  };
}

async function prepare(
  name: ServiceName,
  document: Document,
  own: readonly Operation[],
  memory: Memory | undefined,
): Promise<Prepared> {
  const { prismAnswers } = await import('./prism.ts');
  const { validators } = (await import(`../../generated/${name}/validators.js`)) as {
    validators: Readonly<Record<string, Validators>>;
  };
  const readers = new Map(
    own.map((operation) => [operation.id, requestReader(operation, validators[operation.id] ?? {})]),
  );
  return {
    answers: await prismAnswers(document),
    readerOf: ({ id }) => readers.get(id)!,
    remember: memory && remembering(name, document, own, memory),
  };
}

async function answer(
  document: Document,
  operation: Operation,
  { answers, readerOf, remember }: Prepared,
  req: IncomingMessage,
  params: Readonly<Record<string, string>>,
): Promise<Outgoing> {
  const request = await readerOf(operation)(req, params, undefined);
  await drained(request['body']);
  const wish = preference(req.headers);
  const remembered =
    wish.code === undefined && wish.exampleKey === undefined && !wish.dynamic
      ? remember?.(operation, request, tenantOf(req))
      : undefined;
  const status = wish.code ?? remembered?.status ?? usualStatus(operation, req);
  const types = Object.keys(operationOf(document, operation.id).responses[status]?.content ?? {});
  const contentType = contentTypeFor(types, req.headers.accept, params) ?? null;
  const outgoing = await answers(operation, { ...wish, code: status }, contentType);
  if (remembered?.body !== undefined && !isRaw(contentType))
    return {
      ...outgoing,
      contentType,
      headers: remembered.headers(outgoing.headers),
      body: JSON.stringify(remembered.body),
    };
  if (!isRaw(contentType)) return request['cursor'] === undefined ? outgoing : lastPage(outgoing);
  const body =
    contentType === 'text/event-stream'
      ? eventStream(document, operation.id)
      : plainBody(document, operation.id, status, contentType);
  return { ...outgoing, contentType: sent(contentType), body };
}

/** The first documented success; who asks for a WebSocket without upgrading the connection is told to. */
function usualStatus({ responses }: Operation, { headers }: IncomingMessage): number {
  const first = Math.min(...responses.map(({ status }) => status));
  return first === 101 && headers.upgrade === undefined ? 426 : first;
}

/** What Prism cannot serve: streams of events and anything that is neither JSON nor nothing. */
const isRaw = (contentType: string | null): contentType is string =>
  contentType !== null && !/^application\/([a-z.-]+\+)?json$/.test(contentType);

/** Bytes of any type are sent as such. */
const sent = (contentType: string) => (contentType === '*/*' ? 'application/octet-stream' : contentType);

/** Every list of the mock has two pages, so that clients can be tried that walk to the end: nothing leads on from the second. */
function lastPage({ headers, body, ...rest }: Outgoing): Outgoing {
  const { 'X-Next-Cursor': _more, ...others } = headers;
  const ended = (name: string, value: unknown): unknown => {
    if (/^(next_)?cursor$/.test(name)) return null;
    return /^(has_more|truncated)$/.test(name) ? false : value;
  };
  return {
    ...rest,
    headers: others,
    body: typeof body === 'string' ? JSON.stringify(JSON.parse(body), ended) : body,
  };
}

/** Whose records are meant; undefined where the request does not say. */
function tenantOf({ headers }: IncomingMessage): string | undefined {
  const tenant = headers['x-tenant-id'];
  return typeof tenant === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(tenant) ? tenant : undefined;
}

/** A body that is neither JSON nor a form arrives as a stream, which has to be read even if nobody wants it. */
async function drained(body: unknown): Promise<void> {
  if (typeof body !== 'object' || body === null || !(Symbol.asyncIterator in body)) return;
  for await (const _piece of body as AsyncIterable<Uint8Array>);
}

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
