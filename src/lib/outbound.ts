import { lookup as dnsLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import { Agent, request, type Dispatcher } from 'undici';
import { isInNetworks, isPublicAddress } from './addresses.ts';

/** Which addresses may be reached at the wish of somebody outside. */
export interface OutboundPolicy {
  /** Private and loopback addresses and plain `http`, as on a developer's own machine. */
  readonly allowPrivate: boolean;
  /** CIDR ranges that may be reached though they are private. */
  readonly allowNetworks: readonly string[];
}

export interface OutboundRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** From the look-up of the name to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Bytes of the answer's body that are read; the rest is thrown away. */
  readonly maxBytes: number;
}

export interface OutboundAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** The address may not be reached. The message says why in words for whoever gave it. */
export class TargetRefused extends Error {
  override readonly name = 'TargetRefused';
}

export interface Outbound {
  /** What is wrong with a URL before anything is looked up; undefined where nothing is. */
  judge(url: string): string | undefined;
  /**
   * Sends a request to an address that somebody outside chose. Redirects are answered, not followed. Throws `TargetRefused`, or what
   * the network says.
   */
  send(request: OutboundRequest): Promise<OutboundAnswer>;
  close(): Promise<void>;
}

type Lookup = (
  hostname: string,
  options: LookupOptions & { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * Requests that cannot be turned against the own network. The name is looked up once, by the connection itself, every address of
 * it is judged, and one that was judged is connected to: a second look-up, which could be told something else, does not happen.
 */
export function createOutbound(policy: OutboundPolicy, lookup: Lookup = dnsLookup): Outbound {
  const mayReach = (address: string) =>
    policy.allowPrivate || isPublicAddress(address) || isInNetworks(address, policy.allowNetworks);

  const judgedLookup = (
    hostname: string,
    options: LookupOptions,
    done: (error: Error | null, address: string | LookupAddress[], family?: number) => void,
  ) =>
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, []);
      const [first] = addresses;
      if (!first || !addresses.every(({ address }) => mayReach(address)))
        return done(new TargetRefused('address not allowed'), []);
      return options.all ? done(null, addresses) : done(null, first.address, first.family);
    });

  const agent = new Agent({
    // A connection is judged when it is made, so it is not kept for longer than a burst.
    keepAliveTimeout: 4_000,
    connect: { lookup: judgedLookup },
    maxHeaderSize: 16 * 1024,
  });

  function judge(text: string): string | undefined {
    const url = URL.parse(text);
    if (!url) return 'must be an absolute URL';
    if (
      url.protocol !== 'https:' &&
      !(url.protocol === 'http:' && (policy.allowPrivate || isAllowedHost(url)))
    )
      return 'must be an https URL';
    if (url.username !== '' || url.password !== '') return 'must not carry a user name or password';
    if (url.hash !== '') return 'must not have a fragment';
    if (url.port === '0') return 'must not name port 0';
    const literal = hostAddress(url);
    if (literal !== undefined && !mayReach(literal)) return 'address not allowed';
    return undefined;
  }

  /** Plain `http` may go where the operator said that private addresses may be reached. */
  function isAllowedHost(url: URL): boolean {
    const literal = hostAddress(url);
    return literal !== undefined && isInNetworks(literal, policy.allowNetworks);
  }

  return {
    judge,
    async send({ url, method, headers, body, timeoutMs, maxBytes }) {
      const refusal = judge(url);
      if (refusal !== undefined) throw new TargetRefused(refusal);
      const answer = await request(url, {
        method,
        dispatcher: agent,
        headers: headers ?? {},
        body: body ?? null,
        signal: AbortSignal.timeout(timeoutMs),
      });
      return { status: answer.statusCode, headers: answer.headers, body: await head(answer.body, maxBytes) };
    },
    close: () => agent.destroy(),
  };
}

/** The address that a URL names instead of a host. The parser has brought every spelling of IPv4 into the usual one. */
function hostAddress({ hostname }: URL): string | undefined {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(host) === 0 ? undefined : host;
}

/** The first bytes of a body; the connection of a longer one is given up. */
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
