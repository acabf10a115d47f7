import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Operation } from './operation.ts';

export interface CorsOptions {
  /** Origins as browsers send them, such as `https://app.example.com`; `*` admits every page. */
  readonly origins: readonly string[];
  /** Whether pages of an origin that `origins` does not list may call this URL. */
  readonly admits?: (url: string, origin: string, preflight: boolean) => boolean;
  /** Operations whose header parameters pages may send, and whose documented response headers they may read. */
  readonly operations: readonly Pick<
    Operation,
    'parameters' | 'responses' | 'prefixedHeaders' | 'answeredPrefix'
  >[];
  /** The methods that a path supports. */
  readonly methodsOf: (url: string) => readonly string[];
  /** Headers that pages may send besides those of the platform and the operations. */
  readonly alsoAllowed?: readonly string[];
}

/**
 * Sets the headers that let the calling page read the response, before anything else is known about the request. Returns true for a
 * preflight, which browsers send before a request that a form could not send: the response to it is an empty 204.
 */
export type Cors = (req: IncomingMessage, res: ServerResponse) => boolean;

/** Headers that clients of the platform may send to any operation. */
const allowed = [
  'Authorization',
  'X-API-Key',
  'DPoP',
  'Content-Type',
  'Idempotency-Key',
  'X-Tenant-ID',
  'X-App-ID',
  'X-User-ID',
  'X-Subject-ID',
  'X-Request-ID',
];

/** Seconds for which a browser may cache a preflight. */
const maxAge = '600';

/**
 * Lets pages of other origins call the API. No such call relies on cookies, so responses never allow credentials, and a page can
 * do no more than the token or key that it holds allows.
 */
export function createCors({ origins, admits, operations, methodsOf, alsoAllowed = [] }: CorsOptions): Cors {
  const everyone = origins.includes('*');
  const known = new Set(origins);
  const documented = operations.flatMap(({ responses }) => responses.flatMap(({ headers }) => headers));
  // The names that follow a prefix are not known; where no cookies are sent, the wildcard stands for every name.
  const others = operations.some(({ answeredPrefix }) => answeredPrefix !== undefined) ? ['*'] : [];
  const exposed = [...new Set([...documented, 'X-Request-ID', 'Retry-After', ...others])].join(', ');
  const sent = operations.flatMap(({ parameters }) => parameters.filter((one) => one.in === 'header'));
  const accepted = [...new Set([...allowed, ...sent.map(({ name }) => name), ...alsoAllowed])].join(', ');
  const prefixes = operations.flatMap(({ prefixedHeaders }) => prefixedHeaders?.prefix.toLowerCase() ?? []);
  /** The requested headers that begin with a prefix of the contract. */
  const alsoAccepted = (requested: string | undefined): string =>
    (prefixes.length === 0 ? [] : (requested ?? '').toLowerCase().split(','))
      .map((name) => name.trim())
      .filter((name) => /^[a-z0-9_-]+$/.test(name) && prefixes.some((prefix) => name.startsWith(prefix)))
      .map((name) => `, ${name}`)
      .join('');

  return ({ method, url = '/', headers }, res) => {
    // Caches must distinguish the origins, and requests with an `Origin` from those without one.
    res.setHeader('Vary', 'Origin');
    const { origin } = headers;
    if (origin === undefined) return false;
    const preflight = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
    if (!(everyone || known.has(origin) || admits?.(url, origin, preflight))) return false;
    res.setHeader('Access-Control-Allow-Origin', everyone ? '*' : origin);
    if (!preflight) {
      res.setHeader('Access-Control-Expose-Headers', exposed);
      return false;
    }
    res.setHeader('Access-Control-Allow-Methods', methodsOf(url).join(', '));
    const requested = headers['access-control-request-headers'];
    res.setHeader('Access-Control-Allow-Headers', accepted + alsoAccepted(requested));
    res.setHeader('Access-Control-Max-Age', maxAge);
    return true;
  };
}
