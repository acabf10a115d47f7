import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from './caller.ts';
import type { RecordRequest } from './metrics.ts';
import type { Operation } from './operation.ts';
import type { Peers } from './peers.ts';

/** One request and its response, as logs and metrics see them. */
export interface Exchange {
  readonly requestId: string;
  /** The trace that the request is part of, when the caller names one (W3C Trace Context). */
  readonly traceId: string | undefined;
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
  const exchange: Exchange = {
    requestId: requestId(req),
    traceId: traceId(req),
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

/** A `traceparent` header: version, trace, span and flags. Ids of all zeros and the version ff are invalid. */
const traceparent = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;

function traceId({ headers: { traceparent: given } }: IncomingMessage): string | undefined {
  return typeof given === 'string' ? traceparent.exec(given)?.[1] : undefined;
}

export function newRequestId(): string {
  counter += 1;
  return `${processPart}-${counter.toString(36)}`;
}
