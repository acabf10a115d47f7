import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from './caller.ts';
import type { RecordRequest } from './metrics.ts';
import type { Operation } from './operation.ts';
import type { Peers } from './peers.ts';

/** One request and its response, as logs and metrics see them. */
export interface Exchange {
  readonly requestId: string;
  /** Milliseconds of the monotonic clock. */
  readonly startedAt: number;
  readonly ip: string;
  /** True when the peer may speak for others by headers. */
  readonly trusted: boolean;
  operation: Operation | undefined;
  caller: Caller | undefined;
  /** Counts the request once its status and time are known. */
  record: RecordRequest | undefined;
}

const key = Symbol('exchange');

interface Carrier {
  [key]?: Exchange;
}

/** Begins the exchange that `exchangeOf` finds from then on, and names it in the response. */
export function beginExchange(req: IncomingMessage, res: ServerResponse, peers: Peers): Exchange {
  const { ip, trusted } = peers.judge(req);
  const exchange: Exchange = {
    requestId: requestId(req),
    startedAt: performance.now(),
    ip,
    trusted,
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

/** Random per process, counted within it: unique, and cheaper than random bytes for every request. */
const processPart = randomBytes(9).toString('base64url');
let counter = 0;

/** The client's own request id where it is safe to repeat in headers and logs, else a new one. */
function requestId({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[A-Za-z0-9._:/+=-]{1,128}$/.test(given) ? given : newRequestId();
}

export function newRequestId(): string {
  counter += 1;
  return `${processPart}-${counter.toString(36)}`;
}
