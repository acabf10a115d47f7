import type { RequestHandler } from 'express';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { Unavailable } from '../lib/errors.ts';
import { inRequest } from '../lib/request-scope.ts';
import { streamedBody } from './body.ts';
import type { BodyTime } from './body-time.ts';
import { nobody, type Caller } from './caller.ts';
import { type Exchange, exchangeOf } from './exchange.ts';
import { failure, plainEnvelope } from './failure.ts';
import { type Fairness, lineOf } from './fairness.ts';
import type { Metrics, RecordRequest } from './metrics.ts';
import type { Operation } from './operation.ts';
import { type Headers, respond, respondHead, sendPieces } from './respond.ts';

/**
 * A part of a service whose requests are those of another protocol over HTTP, which no contract of ours describes. It gets its requests
 * before the router reads them, and answers all of them itself, errors included; ids, the log, metrics, turns, limits of bodies and the
 * end of the server are those of all requests.
 */
export interface RawMount {
  /** Names it in the log and in metrics. */
  readonly name: string;
  /** Where it is, relative to the service: `/s3`. */
  readonly path: string;
  /** A port on which it is at the root, besides; 0 means none. */
  readonly port: number;
  /** Answers a request. It must not reject, but for errors of the server itself. */
  answer(request: RawRequest): Promise<RawResponse>;
}

/** A request as it was sent. */
export interface RawRequest {
  readonly method: string;
  /** The path and the query, undecoded. */
  readonly url: string;
  /** What follows the mount in the path, undecoded, from its slash on. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: readonly string[];
  readonly ip: string;
  readonly requestId: string;
  /** Names the operation of the protocol; the names come from a fixed set, because each has figures of its own. */
  name(operation: string): void;
  /** Says who calls, once that is proven. */
  identify(caller: Caller): void;
  /** Runs work when it is the turn of the caller, or of the network address as long as nobody is identified. */
  turn<T>(work: () => Promise<T>): Promise<T>;
  /** The body. The client is asked for it when the reader begins. Throws `TooLarge` and `RequestTimeout`. */
  body(limits: RawBodyLimits): AsyncIterable<Buffer>;
}

export interface RawBodyLimits extends BodyTime {
  readonly bytes: number;
}

export interface RawResponse {
  readonly status: number;
  readonly contentType: string | null;
  readonly headers: Headers;
  /** A body in pieces needs a `Content-Length`. HEAD sends none. */
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
  /** Milliseconds after which a client that takes nothing is cut off. */
  readonly silenceMs?: number;
  /** The reason of a failure, for the log. */
  readonly cause?: unknown;
}

/** A mount of a service, and the path of the server under which it is. */
interface Placed {
  readonly service: string;
  readonly prefix: string;
  readonly mount: RawMount;
}

interface RawOptions {
  readonly fairness: Fairness;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** A port of its own for a mount, and what answers there. */
export interface OwnPort {
  readonly port: number;
  readonly handle: RequestHandler;
}

export interface RawMounts {
  /** Answers the requests below all mounts and passes the others on. */
  readonly handle: RequestHandler;
  readonly ports: readonly OwnPort[];
}

/** Answers the requests of other protocols. */
export function rawMounts(
  services: readonly {
    readonly name: string;
    readonly prefix: string;
    readonly service: { readonly raw?: readonly RawMount[] };
  }[],
  options: RawOptions,
): RawMounts {
  const placed = services.flatMap(({ name, prefix, service }) =>
    (service.raw ?? []).map((mount) => ({ service: name, prefix: prefix + mount.path, mount })),
  );
  const answers = placed.map((one) => answerer(one, options));
  return {
    handle(req, res, next) {
      const at = placed.findIndex(({ prefix }) => isBelow(req.url, prefix));
      if (at === -1) return next();
      void answers[at]!(req, res, req.url.slice(placed[at]!.prefix.length));
    },
    ports: placed.flatMap(({ mount: { port } }, at) =>
      port === 0 ? [] : [{ port, handle: (req, res) => void answers[at]!(req, res, req.url) }],
    ),
  };
}

const isBelow = (url: string, prefix: string): boolean =>
  url.startsWith(prefix) && [undefined, '/', '?'].includes(url[prefix.length]);

type Answer = (req: IncomingMessage, res: ServerResponse, rest: string) => Promise<void>;

function answerer({ service, mount }: Placed, { fairness, metrics, log }: RawOptions): Answer {
  const known = new Map<string, { operation: Operation; record: RecordRequest }>();
  const named = (method: string) => {
    const found = known.get(method);
    if (found) return found;
    const operation = operationOf(service, mount.name, method);
    const added = { operation, record: metrics.recorder(operation) };
    known.set(method, added);
    return added;
  };
  return async (req, res, rest) => {
    const exchange = exchangeOf(res);
    const name = (method: string) => {
      const { operation, record } = named(method);
      exchange.operation = operation;
      exchange.record = record;
    };
    name('unknown');
    try {
      const request = requestOf(req, exchange, { rest, name, fairness });
      await send(req, res, await inRequest(exchange.requestId, () => mount.answer(request)), log);
    } catch (thrown) {
      const outgoing = failure(thrown, plainEnvelope, exchange, log);
      if (res.headersSent || res.closed) res.destroy();
      else respond(res, exchange, outgoing);
    }
  };
}

const busy = () => Unavailable('too many requests at once, try again', { retryAfter: 1 });

function requestOf(
  req: IncomingMessage,
  exchange: Exchange,
  { rest, name, fairness }: { rest: string; name: RawRequest['name']; fairness: Fairness },
): RawRequest {
  const { method = 'GET', url = '/', headers, rawHeaders } = req;
  const { ip, requestId } = exchange;
  return {
    ...{ method, url, headers, rawHeaders, ip, requestId, name },
    path: rest.split('?', 1)[0]!,
    identify: (caller) => void (exchange.caller = caller),
    turn: (work) => fairness.run(lineOf(exchange.caller ?? nobody, ip), busy, work),
    body: ({ bytes, ...time }) => streamedBody(req, bytes, time),
  };
}

/** Writes the answer; damage that shows after its beginning cuts the connection. */
async function send(
  req: IncomingMessage,
  res: ServerResponse,
  answer: RawResponse,
  log: Logger,
): Promise<void> {
  const exchange = exchangeOf(res);
  const { status, contentType, headers, body, silenceMs, cause } = answer;
  if (cause !== undefined && !res.closed)
    log.error({ requestId: exchange.requestId, err: cause, status }, 'request failed');
  const head = { status, contentType, headers, body: undefined };
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array)
    return respond(res, exchange, { ...head, body });
  respondHead(res, exchange, head);
  if (req.method !== 'HEAD') return await sendPieces(res, body, { silenceMs });
  res.end();
  await body[Symbol.asyncIterator]().return?.();
}

/** What the log and the metrics know of an operation that has no contract. */
const operationOf = (service: string, name: string, method: string): Operation => ({
  service,
  id: `${name}_${method}`,
  resource: name,
  method,
  verb: 'GET',
  path: '',
  access: 'any',
  parameters: [],
  body: null,
  responses: [],
});
