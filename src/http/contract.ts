import { middleware } from 'express-openapi-validator';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import { isRaw } from './body.ts';
import { bareType, covering, isJson } from './content-type.ts';
import type { Operation } from './operation.ts';
import type { Wire } from './request.ts';
import type { Outgoing } from './respond.ts';

/** The second check in strict mode: express-openapi-validator on the service's OpenAPI document. */
export interface Contract {
  /** Rejects with a `ContractBreach` when the document forbids a request that the generated validators allow. May change `wire`. */
  request(operation: Operation, req: IncomingMessage, wire: Wire): Promise<void>;
  /** Rejects with a `ContractBreach` when the document lacks the status, a header or the content type, or forbids the body. */
  response(operation: Operation, req: IncomingMessage, outgoing: Outgoing): Promise<void>;
}

/** The server itself broke the contract; this is never the client's fault. */
export class ContractBreach extends Error {
  override readonly name = 'ContractBreach';
}

/** Headers that the frame reads and validates itself, where they apply; the document cannot express where they do not apply. */
const readByFrame = new Set(['x-tenant-id', 'x-app-id', 'x-user-id', 'x-subject-id', 'idempotency-key']);

/** Headers that the frame may send with any response. */
const frameHeaders = new Set([
  'cache-control',
  'connection',
  'content-security-policy',
  'pragma',
  'referrer-policy',
  'retry-after',
  'sec-websocket-accept',
  'sec-websocket-version',
  'set-cookie',
  'upgrade',
  'www-authenticate',
]);

/**
 * Creates the contract check of one service. `onBreach` is called for every breach, so that a test server can fail when it ends.
 * The validator of an operation is created on first use: creating all of them takes seconds, and most processes in strict mode
 * serve few operations.
 */
export function strictContract(document: URL, onBreach: (breach: ContractBreach) => void): Contract {
  const judgeOf = judgesFrom(readSpec(document));
  const breach = (operation: Operation, text: string): never => {
    const error = new ContractBreach(`${operation.service} ${operation.id}: ${text}`);
    onBreach(error);
    throw error;
  };
  return {
    async request(operation, req, wire) {
      if (isGreedy(operation) || takesStream(operation)) return;
      const error = await judgeOf(operation)(facadeRequest(operation, req, wire));
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
        (name) =>
          !known.has(name.toLowerCase()) &&
          !frameHeaders.has(name.toLowerCase()) &&
          !hasPrefix(name, operation),
      );
      if (unknown !== undefined)
        breach(operation, `header ${unknown} is not documented for status ${status}`);
      const type = contentType === null ? 'application/json' : bareType(contentType);
      const ranges = documented.flatMap(({ contentTypes }) => contentTypes);
      if (contentType !== null && operation.verb !== 'HEAD' && covering(ranges, type) === undefined)
        breach(operation, `content type ${type} is not documented for status ${status}`);
      if (!isJson(type) || operation.verb === 'HEAD' || isGreedy(operation)) return;
      const value: unknown = typeof body === 'string' ? JSON.parse(body) : undefined;
      const error = await judgeOf(operation, status)(facadeRequest(operation, req), {
        status,
        type,
        value,
      });
      if (error) breach(operation, `the response to status ${status} breaks the document: ${error.message}`);
    },
  };
}

/**
 * With `validateApiSpec: false` the library still compiles the schema of OpenAPI documents for each validator, although it then
 * does not use the result. Compiling takes longer than everything else that a validator needs, so nothing is compiled here.
 */
Object.assign(
  createRequire(import.meta.url)('express-openapi-validator/dist/framework/openapi.schema.validator.js'),
  { OpenAPISchemaValidator: class {} },
);

const hasPrefix = (name: string, { answeredPrefix: prefix }: Operation) =>
  prefix !== undefined && name.toLowerCase().startsWith(prefix.toLowerCase());

type ApiSpec = Exclude<Parameters<typeof middleware>[0]['apiSpec'], string>;

const specs = new Map<string, ApiSpec>();

/** Reads the document without its `servers`, because the validated paths are relative to the service. */
function readSpec({ href }: URL): ApiSpec {
  const known = specs.get(href);
  if (known) return known;
  const spec = { ...JSON.parse(readFileSync(new URL(href), 'utf8')), servers: [] } as ApiSpec;
  specs.set(href, spec);
  return spec;
}

const judges = new WeakMap<ApiSpec, Map<string, Judge>>();

/**
 * The validators of a document: for each operation one for its requests, and one for each status of its responses. All servers of
 * this process share them.
 */
function judgesFrom(spec: ApiSpec): (operation: Operation, status?: number) => Judge {
  const made = judges.get(spec) ?? new Map<string, Judge>();
  judges.set(spec, made);
  return (operation, status) => {
    const name = `${operation.id} ${status ?? ''}`;
    const known = made.get(name);
    if (known) return known;
    const own = judge(
      middleware({
        apiSpec: excerpt(spec, operation, status),
        validateRequests: status === undefined,
        validateResponses: status !== undefined,
        // These options are as strict as the generated validators.
        ajvFormats: { mode: 'full' },
        validateSecurity: false,
        fileUploader: false,
        validateApiSpec: false,
      }) as Middleware[],
    );
    made.set(name, own);
    return own;
  };
}

/** The part of a document that one validator needs: an operation's request or one of its responses, and the components they refer to. */
function excerpt(spec: ApiSpec, { path, verb }: Operation, status: number | undefined): ApiSpec {
  const method = verb.toLowerCase();
  const documented = (spec.paths?.[path] as Record<string, Documented> | undefined)?.[method];
  const { parameters, requestBody, responses = {}, ...rest } = documented ?? {};
  const part =
    status === undefined
      ? { ...rest, parameters, requestBody, responses: { default: { description: '' } } }
      : { ...rest, parameters: parameters?.filter(isInPath), responses: { [status]: responses[status] } };
  const paths = { [path]: { [method]: part } };
  return structuredClone({ ...spec, paths, components: componentsOf(spec, paths) });
}

interface Documented {
  readonly parameters?: readonly { readonly in?: string }[];
  readonly requestBody?: unknown;
  readonly responses?: Readonly<Record<string, unknown>>;
}

/** The validator needs the path parameters to find the path. */
const isInPath = (parameter: { readonly in?: string }) => parameter.in === 'path';

/** The components that `part` refers to, directly or through other components. */
function componentsOf(spec: ApiSpec, part: unknown): object {
  const all = spec.components as Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
  const found: Record<string, Record<string, unknown>> = {};
  const add = (text: string): void => {
    for (const [, kind = '', name = ''] of text.matchAll(/"#\/components\/(\w+)\/([^"/]+)/g)) {
      const own = (found[kind] ??= {});
      if (name in own) continue;
      own[name] = all?.[kind]?.[name];
      add(JSON.stringify(own[name]));
    }
  };
  add(JSON.stringify(part));
  return found;
}

/** OpenAPI has no parameter that may contain slashes, so its validator cannot find such a path. */
const isGreedy = ({ path }: Operation) => path.includes('{+');

/** A schema validator cannot check a body that is not parsed. */
const takesStream = ({ body }: Operation) => body !== null && isRaw(body);

type Judge = (
  req: unknown,
  response?: { status: number; type: string; value: unknown },
) => Promise<Error | undefined>;

type Middleware = (req: unknown, res: unknown, next: (error?: Error) => void) => void;

/**
 * Runs the validator on stand-ins for the request and the response: the validator changes what it checks (dates, defaults,
 * arrays), and the handlers must get the same values as in production.
 */
function judge(middlewares: readonly Middleware[]): Judge {
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

/** Builds the request in the form that the validator needs, with its path relative to the service. */
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
    headers: judgedHeaders(req, wire),
    query: Object.fromEntries(entries),
    params: {},
    body: wire?.body,
    app: { enabled: () => true, param: () => {} },
  };
}

/** Also encodes the characters that `encodeURIComponent` leaves, because the validator treats them as reserved. */
const encoded = (text: string) =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);

/** Omits the headers that the frame reads, and the content type when an optional body is absent. */
function judgedHeaders({ headers }: IncomingMessage, wire: Wire | undefined): IncomingMessage['headers'] {
  const hasNoBody = wire !== undefined && wire.body === undefined;
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => !readByFrame.has(name) && !(hasNoBody && name === 'content-type'),
    ),
  );
}
