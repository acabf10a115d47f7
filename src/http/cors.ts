import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Operation } from './operation.ts';

export interface CorsOptions {
  /** Origins as browsers send them, `https://app.example.com`; `*` lets in every page. */
  readonly origins: readonly string[];
  /** Whether pages of another origin may call this address. */
  readonly admits?: (url: string, origin: string) => boolean;
  /** Pages may send their header parameters and read their documented response headers. */
  readonly operations: readonly Pick<Operation, 'parameters' | 'responses'>[];
  /** The methods that a path has. */
  readonly methodsOf: (url: string) => readonly string[];
  /** Headers that pages may send besides those of the platform and the operations. */
  readonly alsoAllowed?: readonly string[];
}

/**
 * Puts on a response what lets the page that asks read it, before anything else is known of the request. True when the request
 * is a preflight, the question that browsers ask before a request that a form could not send: it wants an empty 204.
 */
export type Cors = (req: IncomingMessage, res: ServerResponse) => boolean;

/** What clients of the platform send to any operation. */
const allowed = [
  'Authorization',
  'X-API-Key',
  'Content-Type',
  'Idempotency-Key',
  'X-Tenant-ID',
  'X-App-ID',
  'X-User-ID',
  'X-Subject-ID',
  'X-Request-ID',
];

/** Seconds for which a browser need not ask again. */
const maxAge = '600';

/**
 * Lets pages of other origins call. Cookies play no part anywhere, so answers never allow credentials, and a page can do no more
 * than the token or key that it holds.
 */
export function createCors({ origins, admits, operations, methodsOf, alsoAllowed = [] }: CorsOptions): Cors {
  const everyone = origins.includes('*');
  const known = new Set(origins);
  const documented = operations.flatMap(({ responses }) => responses.flatMap(({ headers }) => headers));
  const exposed = [...new Set([...documented, 'X-Request-ID', 'Retry-After'])].join(', ');
  const sent = operations.flatMap(({ parameters }) => parameters.filter((one) => one.in === 'header'));
  const accepted = [...new Set([...allowed, ...sent.map(({ name }) => name), ...alsoAllowed])].join(', ');

  return ({ method, url = '/', headers }, res) => {
    // Caches have to tell the origins apart, and those that ask from those that do not.
    res.setHeader('Vary', 'Origin');
    const { origin } = headers;
    if (origin === undefined) return false;
    if (!(everyone || known.has(origin) || admits?.(url, origin))) return false;
    res.setHeader('Access-Control-Allow-Origin', everyone ? '*' : origin);
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) {
      res.setHeader('Access-Control-Expose-Headers', exposed);
      return false;
    }
    res.setHeader('Access-Control-Allow-Methods', methodsOf(url).join(', '));
    res.setHeader('Access-Control-Allow-Headers', accepted);
    res.setHeader('Access-Control-Max-Age', maxAge);
    return true;
  };
}
