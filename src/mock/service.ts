import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { operations, type Operation, type ServiceName } from '../../generated/operations.ts';
import type { Validators } from '../http/operation.ts';
import { requestReader, type ReadRequest } from '../http/request.ts';
import { operationOf, readDocument, type Document } from './contract/document.ts';
import { envelopes } from './answers/envelope.ts';
import { contentTypeFor } from './answers/negotiation.ts';
import { makingUp } from './made-up/made-up.ts';
import type { Outgoing } from './answers/outgoing.ts';
import { preference } from './answers/preference.ts';
import type { Answers } from './answers/prism.ts';
import { eventStream, plainBody } from './answers/raw.ts';
import { isBytes, received } from './memory/contents.ts';
import type { Memory } from './memory/memory.ts';
import { remembering, type Remember } from './memory/remembering.ts';

/** One service of the mock. */
export interface MockedService {
  readonly name: ServiceName;
  readonly document: Document;
  readonly operations: readonly MockedOperation[];
  /** Returns the documented body of a failure, with this message. */
  envelope(status: number, message: string): unknown;
}

export interface MockedOperation {
  readonly verb: string;
  /** Its path, and its alias if it has one. */
  readonly paths: readonly string[];
  /** Whether the operation needs no credentials. */
  readonly public: boolean;
  /** Reads the request and answers it. @throws DomainError for an invalid request */
  answer(req: IncomingMessage, params: Readonly<Record<string, string>>): Promise<Outgoing>;
}

/** Parts that take long to prepare and are prepared on the first request of a service. */
interface Prepared {
  readonly answers: Answers;
  readonly madeUp: ReturnType<typeof makingUp>;
  readonly readerOf: (operation: Operation) => ReadRequest;
  readonly remember: Remember | undefined;
}

/** Creates the mock of one service from its document and its part of the operations table. With a memory, it remembers what is sent. */
export function mockService(name: ServiceName, memory: Memory | undefined, address: string): MockedService {
  const document = readDocument(name, address);
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
  const { prismAnswers } = await import('./answers/prism.ts');
  const { validators } = (await import(`../../generated/${name}/validators.js`)) as {
    validators: Readonly<Record<string, Validators>>;
  };
  const readers = new Map(
    own.map((operation) => [
      operation.id,
      requestReader(keepable(operation, memory), validators[operation.id] ?? {}),
    ]),
  );
  return {
    answers: await prismAnswers(document),
    madeUp: makingUp(document),
    readerOf: ({ id }) => readers.get(id)!,
    remember: memory && remembering(name, document, own, memory),
  };
}

/** Limits an upload to the number of bytes that the memory keeps. */
function keepable(operation: Operation, memory: Memory | undefined): Operation {
  const { body } = operation;
  if (!memory || !body || body.contentTypes.includes('application/json')) return operation;
  return { ...operation, body: { ...body, limit: Math.min(body.limit, memory.largest) } };
}

async function answer(
  document: Document,
  operation: Operation,
  { answers, madeUp, readerOf, remember }: Prepared,
  req: IncomingMessage,
  params: Readonly<Record<string, string>>,
): Promise<Outgoing> {
  const { request } = await readerOf(operation)(req, params, undefined);
  const { body: sent } = request;
  const arrived = isBytes(sent) && remember ? await received(sent, operation, req.headers) : undefined;
  // The bytes have to be read even if nothing uses them.
  if (isBytes(sent) && !arrived) for await (const _ of sent) continue;
  const wish = preference(req.headers);
  const remembered =
    wish.code === undefined && wish.exampleKey === undefined && !wish.dynamic
      ? remember?.(operation, request, arrived, tenantOf(req), clientOf(req))
      : undefined;
  const status = wish.code ?? remembered?.status ?? usualStatus(operation, req);
  const types = Object.keys(operationOf(document, operation.id).responses[status]?.content ?? {});
  const contentType = contentTypeFor(types, req.headers.accept, params) ?? null;
  const isStream = contentType === 'text/event-stream';
  // The examples of a stream are its events, which Prism does not know.
  const { exampleKey, ...others } = wish;
  const wanted = { ...(isStream ? others : wish), code: status, dynamic: false };
  // An undocumented answer is rejected before anything is made up.
  const example = await answers(operation, wanted, contentType);
  const isMadeUp = wish.dynamic && !isRaw(contentType) && example.body !== undefined;
  const made = isMadeUp
    ? await madeUp({ operation, preference: { ...wanted, dynamic: true }, contentType })
    : undefined;
  const outgoing = made ? { ...made, headers: example.headers } : example;
  if (remembered?.body !== undefined && !isRaw(contentType))
    return {
      ...outgoing,
      contentType,
      headers: remembered.headers(outgoing.headers),
      body: JSON.stringify(remembered.body),
    };
  if (remembered?.content) {
    const { bytes, type } = remembered.content;
    return {
      ...outgoing,
      contentType: types.includes('*/*') || operation.verb === 'HEAD' ? type : contentType,
      headers: remembered.headers(outgoing.headers),
      body: operation.verb === 'HEAD' ? undefined : bytes,
    };
  }
  if (remembered && isEmpty(remembered.status, operation))
    return { ...outgoing, headers: remembered.headers(outgoing.headers) };
  if (!isRaw(contentType)) return request['cursor'] === undefined ? outgoing : lastPage(outgoing);
  const body = isStream
    ? (remembered?.retold ?? String)(eventStream(document, operation.id, exampleKey))
    : plainBody(document, operation.id, status, contentType);
  return { ...outgoing, contentType: served(contentType), body };
}

/** Returns the first documented success. A request to a WebSocket without an upgrade gets 426. */
function usualStatus({ responses }: Operation, { headers }: IncomingMessage): number {
  const first = Math.min(...responses.map(({ status }) => status));
  return first === 101 && headers.upgrade === undefined ? 426 : first;
}

const isEmpty = (status: number, { verb }: Operation) => verb === 'HEAD' || status === 304 || status === 416;

/** Whether Prism cannot serve a content type: event streams, and any other type that is not JSON. */
const isRaw = (contentType: string | null): contentType is string =>
  contentType !== null && !/^application\/([a-z.-]+\+)?json$/.test(contentType);

/** Serves any type as plain bytes. */
const served = (contentType: string) => (contentType === '*/*' ? 'application/octet-stream' : contentType);

/** Every list of the mock has two pages, so that clients can test reading to the end: the second page has no next one. */
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

/** Returns the tenant whose records are meant, or undefined when the request does not name one. */
function tenantOf({ headers }: IncomingMessage): string | undefined {
  const tenant = headers['x-tenant-id'];
  return typeof tenant === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(tenant) ? tenant : undefined;
}

/** Identifies the client as well as a mock can: by credentials and address. */
const clientOf = ({ headers, socket }: IncomingMessage): string =>
  createHash('sha256')
    .update(JSON.stringify([headers.authorization, headers['x-api-key'], socket.remoteAddress]))
    .digest('base64');

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
