import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Span } from '@opentelemetry/api';
import { requestSpan } from '../lib/tracing/spans.ts';
import { traceParent } from '../lib/tracing/trace-parent.ts';
import type { Caller } from './caller.ts';
import type { RecordRequest } from './metrics.ts';
import type { Operation } from './operation.ts';
import type { Peers } from './peers.ts';

/** One request and its response, as logs and metrics see them. */
export interface Exchange {
  readonly requestId: string;
  /** The trace that the request is part of: the one that the caller names (W3C Trace Context), or its own where it is measured. */
  readonly traceId: string | undefined;
  /** What the request takes, where traces are exported. */
  readonly span: Span | undefined;
  /** Start time in milliseconds of the monotonic clock. */
  readonly startedAt: number;
  readonly ip: string;
  operation: Operation | undefined;
  caller: Caller | undefined;
  /** Counts the request once its status and time are known. */
  record: RecordRequest | undefined;
}

const key = Symbol('exchange');

interface Carrier {
  [key]?: Exchange;
}

/** Begins the exchange and attaches it to the response, where `exchangeOf` finds it. */
export function beginExchange(req: IncomingMessage, res: ServerResponse, peers: Peers): Exchange {
  const parent = traceParent(req.headers.traceparent);
  const span = requestSpan(req.method ?? '', parent);
  const exchange: Exchange = {
    requestId: requestId(req),
    traceId: span?.spanContext().traceId ?? parent?.traceId,
    span,
    startedAt: performance.now(),
    ip: peers.addressOf(req),
    operation: undefined,
    caller: undefined,
    record: undefined,
  };
  (res as Carrier)[key] = exchange;
  return exchange;
}

export function exchangeOf(res: ServerResponse): Exchange {
  const exchange = (res as Carrier)[key];
  if (!exchange) throw new Error('the exchange was not begun');
  return exchange;
}

/** Request ids have a random part per process and a counter: they are unique, and cheaper than random bytes for every request. */
const processPart = randomBytes(9).toString('base64url');
let counter = 0;

/** The client's own request id when it is safe to repeat in headers and logs, else a new one. */
function requestId({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[A-Za-z0-9._:/+=-]{1,128}$/.test(given) ? given : newRequestId();
}

export function newRequestId(): string {
  counter += 1;
  return `${processPart}-${counter.toString(36)}`;
}
