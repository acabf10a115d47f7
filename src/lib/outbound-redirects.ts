import { TargetRefused } from './outbound-targets.ts';

export type OutboundMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/** One request of a chain of redirects. */
export interface Hop {
  readonly url: string;
  readonly method: OutboundMethod;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
}

/** The statuses by which a server redirects a request; 300 and 304 are ordinary answers. */
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Headers that may follow to another origin. All others may be secrets that only the first origin should see. */
const harmless: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'content-type',
  'user-agent',
]);

/** Headers that describe a body. A redirect that drops the body also drops them. */
const ofBody: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-language',
  'content-length',
  'content-type',
]);

/**
 * Returns the request to which an answer redirects, as the Fetch standard defines it (section 4.4); undefined when the answer is no
 * redirect, and `TargetRefused` for a redirect from https to http or one that needs a streamed body once more.
 */
export function redirected(hop: Hop, status: number, location: unknown): Hop | TargetRefused | undefined {
  if (!redirects.has(status) || typeof location !== 'string') return undefined;
  const url = URL.parse(location, hop.url);
  if (!url) return undefined;
  const from = new URL(hop.url);
  if (from.protocol === 'https:' && url.protocol === 'http:')
    return new TargetRefused('must be an https URL');
  url.hash = '';
  const toGet = becomesGet(hop.method, status);
  if (!toGet && hop.body !== undefined && isStreamed(hop.body))
    return new TargetRefused('a body that was streamed cannot be sent to the target of a redirect');
  const kept = Object.entries(hop.headers).filter(([given]) => {
    const name = given.toLowerCase();
    return (url.origin === from.origin || harmless.has(name)) && !(toGet && ofBody.has(name));
  });
  return {
    url: url.href,
    method: toGet ? 'GET' : hop.method,
    headers: Object.fromEntries(kept),
    body: toGet ? undefined : hop.body,
  };
}

const becomesGet = (method: OutboundMethod, status: number): boolean =>
  status === 303 ? method !== 'GET' && method !== 'HEAD' : status < 303 && method === 'POST';

const isStreamed = (body: NonNullable<Hop['body']>): body is AsyncIterable<Uint8Array> =>
  typeof body === 'object' && Symbol.asyncIterator in body;
