import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { Readable } from 'node:stream';
import { Agent, buildConnector, request, type Dispatcher } from 'undici';
import { measured } from './tracing/spans.ts';
import { nameLookup, type Lookup } from './name-lookup.ts';
import { redirected, type Hop, type OutboundMethod } from './outbound-redirects.ts';
import { TargetRefused, targetRules, type OutboundPolicy } from './outbound-targets.ts';

export { TargetRefused, type Lookup, type OutboundMethod, type OutboundPolicy };

export interface OutboundRequest {
  readonly url: string;
  readonly method: OutboundMethod;
  readonly headers?: Readonly<Record<string, string>>;
  /** A body in pieces is sent at the pace at which the other side takes it. */
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>;
  /** Milliseconds from the DNS lookup to the last byte of the response, redirects included. */
  readonly timeoutMs: number;
  /** Milliseconds without progress in which the head of the response must begin; by default only `timeoutMs` limits them. */
  readonly headersMs?: number;
  /** Milliseconds that may pass between two pieces of the response; by default only `timeoutMs` limits them. */
  readonly silenceMs?: number;
  /** The most bytes of the response body. */
  readonly maxBytes: number;
  /** How many redirects to follow, 0 by default. The target of each is judged like the first URL. */
  readonly redirects?: number;
  /** Ends the request, and the response while it is read. */
  readonly signal?: AbortSignal;
}

interface OutboundHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface OutboundAnswer extends OutboundHead {
  readonly body: Buffer;
}

export interface OutboundStream extends OutboundHead {
  /** The body as it arrives, to be read once. Throws `AnswerTooLarge` after `maxBytes`. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Drops a body that is not read to its end, and the connection with it. */
  discard(): void;
}

/** The response is larger than the request allowed. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}

/** Sends requests to addresses that an outside party chose. */
export interface Outbound {
  /** Returns the problem of a URL, without a DNS lookup; undefined when there is none. */
  judge(url: string): string | undefined;
  /**
   * Returns the whole response; the body is cut after `maxBytes`. A redirect that is not followed is the response. Throws
   * `TargetRefused` or the error of the network.
   */
  send(request: OutboundRequest): Promise<OutboundAnswer>;
  /** Returns the response as soon as its head has arrived. Throws as `send` does, and so does the reading of the body. */
  stream(request: OutboundRequest): Promise<OutboundStream>;
  close(): Promise<void>;
}

export interface OutboundOptions extends OutboundPolicy {
  /** Milliseconds in which a connection must be made, DNS lookup and TLS included; 10,000 by default. */
  readonly connectMs?: number;
}

/**
 * Creates a client whose requests cannot be directed at the server's own network. The connection itself looks up the name once, all
 * addresses are checked, and it connects to one of them: there is no second lookup that could return another address.
 */
export function createOutbound(options: OutboundOptions, lookup: Lookup = lookupFor(options)): Outbound {
  const { judge, mayReach } = targetRules(options);

  const judgedLookup = (
    hostname: string,
    asked: LookupOptions,
    done: (error: Error | null, address: string | LookupAddress[], family?: number) => void,
  ) =>
    lookup(hostname, { ...asked, all: true }, (error, addresses) => {
      if (error) return done(error, []);
      const [first] = addresses;
      if (!first || !addresses.every(({ address }) => mayReach(address)))
        return done(new TargetRefused('address not allowed'), []);
      return asked.all ? done(null, addresses) : done(null, first.address, first.family);
    });

  // A receiver that chose HTTP/2 would have its own say about headers, streams and pushes, for which there are no limits here.
  const allowH2 = false;
  const connect = buildConnector({ lookup: judgedLookup, timeout: options.connectMs ?? 10_000, allowH2 });
  const agent = new Agent({
    allowH2,
    // Addresses are checked when a connection is opened, so connections are kept only for the length of a burst.
    keepAliveTimeout: 4_000,
    // The peer is checked once more, because an address in the URL never passes the lookup.
    connect: (target, done) =>
      connect(target, (error, socket) => {
        if (error) return done(error, null);
        const { remoteAddress } = socket;
        if (remoteAddress !== undefined && mayReach(remoteAddress)) return done(null, socket);
        socket.destroy();
        return done(remoteAddress === undefined ? cutOff() : new TargetRefused('address not allowed'), null);
      }),
    maxHeaderSize: 16 * 1024,
  });

  async function open(asked: OutboundRequest): Promise<Dispatcher.ResponseData> {
    const { timeoutMs, headersMs = 0, silenceMs = 0, signal } = asked;
    const late = AbortSignal.timeout(timeoutMs);
    const limits = {
      headersTimeout: headersMs,
      bodyTimeout: silenceMs,
      signal: signal ? AbortSignal.any([late, signal]) : late,
    };
    let hop: Hop = { ...asked, headers: asked.headers ?? {}, body: asked.body };
    for (let left = asked.redirects ?? 0; ; left--) {
      const refusal = judge(hop.url);
      if (refusal !== undefined) throw new TargetRefused(refusal);
      const { url, method, headers, body } = hop;
      const answer = await measuredCall(method, url, () =>
        request(url, { method, headers, body: sendable(body), dispatcher: agent, ...limits }),
      );
      if (left === 0) return answer;
      const next = redirected(hop, answer.statusCode, answer.headers['location']);
      if (next === undefined) return answer;
      drop(answer.body);
      if (next instanceof TargetRefused) throw next;
      hop = next;
    }
  }

  return {
    judge,
    async send(asked) {
      const { statusCode, headers, body } = await open(asked);
      return { status: statusCode, headers, body: await head(body, asked.maxBytes) };
    },
    async stream(asked) {
      const { statusCode, headers, body } = await open(asked);
      const discard = () => drop(body);
      return { status: statusCode, headers, body: limited(body, asked.maxBytes), discard };
    },
    close: () => agent.destroy(),
  };
}

/** Where private hosts may be reached, they have the names that the operating system knows. */
const lookupFor = ({ allowPrivate, allowNetworks }: OutboundPolicy): Lookup =>
  allowPrivate || allowNetworks.length > 0 ? systemLookup : nameLookup();

/** A call is measured until the head of the response is there. Paths and queries may hold secrets, so only the host is named. */
function measuredCall(
  method: OutboundMethod,
  url: string,
  call: () => Promise<Dispatcher.ResponseData>,
): Promise<Dispatcher.ResponseData> {
  const { hostname, port, protocol } = new URL(url);
  const attributes = {
    'http.request.method': method,
    'server.address': hostname,
    'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
  };
  return measured(method, 'outbound', attributes, async (span) => {
    const answer = await call();
    span?.setAttribute('http.response.status_code', answer.statusCode);
    return answer;
  });
}

/** The peer ended the connection before anything was sent, so it has no address any more. */
const cutOff = () => Object.assign(new Error('the connection was ended'), { code: 'ECONNRESET' });

/** Pieces are sent through a stream, which ends the iterable when the request fails. */
const sendable = (body: Hop['body']): string | Uint8Array | Readable | null =>
  typeof body === 'object' && Symbol.asyncIterator in body
    ? Readable.from(body, { objectMode: false })
    : (body ?? null);

/** An error of a body that nobody reads concerns nobody. */
function drop(body: Dispatcher.ResponseData['body']): void {
  body.on('error', () => {}).destroy();
}

async function* limited(
  body: Dispatcher.ResponseData['body'],
  most: number,
): AsyncGenerator<Uint8Array, void> {
  let size = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > most) throw new AnswerTooLarge(`the response is larger than ${most} bytes`);
    yield piece;
  }
}

/** Reads the first bytes of a body; for a longer body the connection is dropped. */
async function head(body: Dispatcher.ResponseData['body'], most: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    pieces.push(piece);
    size += piece.length;
    if (size >= most) break;
  }
  return Buffer.concat(pieces).subarray(0, most);
}
