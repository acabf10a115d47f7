import { middleware } from 'express-openapi-validator';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { isRaw } from './body.ts';
import { bareType, covering, isJson } from './content-type.ts';
import type { Operation } from './operation.ts';
import type { Wire } from './request.ts';
import type { Outgoing } from './respond.ts';

/** The second judge of strict mode: express-openapi-validator on the service's OpenAPI document. */
export interface Contract {
  /** Rejects with a `ContractBreach` when the document forbids what the generated validators allowed. May change `wire`. */
  request(operation: Operation, req: IncomingMessage, wire: Wire): Promise<void>;
  /** Rejects with a `ContractBreach` when the document does not know the status or a header, or forbids the body. */
  response(operation: Operation, req: IncomingMessage, outgoing: Outgoing): Promise<void>;
}

/** The server itself broke the contract; never the client's fault. */
export class ContractBreach extends Error {
  override readonly name = 'ContractBreach';
}

/** What the frame may say with any answer. */
const frameHeaders = new Set([
  'cache-control',
  'content-security-policy',
  'referrer-policy',
  'retry-after',
  'set-cookie',
  'www-authenticate',
]);

/** The judge of one service. `onBreach` hears of every breach, so that a test server can fail at its end. */
export function strictContract(document: URL, onBreach: (breach: ContractBreach) => void): Contract {
  const common = {
    apiSpec: readSpec(document),
    // As strictly as the generated validators.
    ajvFormats: { mode: 'full' },
    validateSecurity: false,
    fileUploader: false,
    validateApiSpec: false,
  } as const;
  const requests = judge(
    middleware({ ...common, validateRequests: true, validateResponses: false }) as Middleware[],
  );
  const responses = judge(
    middleware({ ...common, validateRequests: false, validateResponses: true }) as Middleware[],
  );
  const breach = (operation: Operation, text: string): never => {
    const error = new ContractBreach(`${operation.service} ${operation.id}: ${text}`);
    onBreach(error);
    throw error;
  };
  return {
    async request(operation, req, wire) {
      if (isGreedy(operation) || takesStream(operation)) return;
      const error = await requests(facadeRequest(operation, req, wire));
      if (error)
        breach(operation, `the document forbids a request that the validators allow: ${error.message}`);
    },
    async response(operation, req, { status, contentType, headers, body }) {
      const documented = operation.responses.filter((response) => response.status === status);
      if (documented.length === 0) breach(operation, `status ${status} is not documented`);
      const known = new Set(
        documented.flatMap((response) => response.headers.map((name) => name.toLowerCase())),
      );
      const unknown = Object.keys(headers ?? {}).find(
        (name) => !known.has(name.toLowerCase()) && !frameHeaders.has(name.toLowerCase()),
      );
      if (unknown !== undefined)
        breach(operation, `header ${unknown} is not documented for status ${status}`);
      const type = contentType === null ? 'application/json' : bareType(contentType);
      const ranges = documented.flatMap(({ contentTypes }) => contentTypes);
      if (contentType !== null && operation.verb !== 'HEAD' && covering(ranges, type) === undefined)
        breach(operation, `content type ${type} is not documented for status ${status}`);
      if (!isJson(type) || operation.verb === 'HEAD' || isGreedy(operation)) return;
      const value: unknown = typeof body === 'string' ? JSON.parse(body) : undefined;
      const error = await responses(facadeRequest(operation, req), { status, type, value });
      if (error) breach(operation, `the response to status ${status} breaks the document: ${error.message}`);
    },
  };
}

/** Without its servers: the paths to judge are relative to the service. */
const readSpec = (document: URL) =>
  ({ ...JSON.parse(readFileSync(document, 'utf8')), servers: [] }) as ApiSpec;

type ApiSpec = Exclude<Parameters<typeof middleware>[0]['apiSpec'], string>;

/** OpenAPI has no parameter that takes slashes, so its validator cannot find such a path. */
const isGreedy = ({ path }: Operation) => path.includes('{+');

/** A body that nobody parses is none for a validator of schemas. */
const takesStream = ({ body }: Operation) => body !== null && isRaw(body);

type Middleware = (req: unknown, res: unknown, next: (error?: Error) => void) => void;

/**
 * Runs the validator beside the real request, on stand-ins: it changes what it looks at (dates, defaults, arrays), and
 * the handlers have to get what they get in production.
 */
function judge(middlewares: readonly Middleware[]) {
  return async (
    req: unknown,
    response?: { status: number; type: string; value: unknown },
  ): Promise<Error | undefined> => {
    const headers = { 'content-type': response?.type ?? 'application/json' };
    const res = {
      statusCode: response?.status,
      headersSent: false,
      getHeaders: () => headers,
      json: (_: unknown) => {},
    };
    let found: Error | undefined;
    for (const run of middlewares) {
      await new Promise<void>((resolve) => {
        run(req, res, (error) => {
          found ??= error;
          resolve();
        });
      });
      if (found) return found;
    }
    if (response) res.json(response.value);
    return found;
  };
}

/** The request as the validator needs it, with its path relative to the service. */
function facadeRequest(operation: Operation, req: IncomingMessage, wire?: Wire) {
  const entries = Object.entries(wire?.query ?? {}).filter(([, value]) => value !== '');
  const query = entries
    .flatMap(([name, value]) => [value].flat().map((one) => `${name}=${encoded(one)}`))
    .join('&');
  const path = operation.path.replaceAll(/\{([^}]+)\}/g, (_, name: string) =>
    encoded(wire?.params[name] ?? 'x'),
  );
  return {
    method: operation.verb,
    originalUrl: query ? `${path}?${query}` : path,
    url: path,
    path,
    baseUrl: '',
    headers: wire && wire.body === undefined ? withoutContentType(req.headers) : { ...req.headers },
    query: Object.fromEntries(entries),
    params: {},
    body: wire?.body,
    app: { enabled: () => true, param: () => {} },
  };
}

/** The validator takes the characters that `encodeURIComponent` leaves for reserved ones. */
const encoded = (text: string) =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);

/** An optional body that is not there has no content type to judge. */
function withoutContentType({ 'content-type': _, ...headers }: IncomingMessage['headers']) {
  return headers;
}
