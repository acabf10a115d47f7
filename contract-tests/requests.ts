/** Valid requests, made from the examples of the contract; and what can be wrong with any request. */
import { typeidUnboxed } from 'typeid-js';
import type { Operation } from '../generated/operations.ts';
import { documented, parametersOf, resolve, type ParameterObject, type Schema } from './contract.ts';

/** A request as it goes over the wire, but for the credentials. */
export interface WireRequest {
  readonly path: string;
  readonly init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body?: string;
  };
}

export interface Parts {
  /** Path, query and header parameters by name; the examples of the required ones without them. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** The body as JSON; the example without it. */
  readonly body?: unknown;
}

/** A request of the operation that the contract allows. It names things that need not exist. */
export function exampleRequest(
  operation: Operation,
  { parameters = {}, body = exampleBody(operation) }: Parts = {},
): WireRequest {
  const values = { ...requiredParameters(operation), ...parameters };
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  for (const { name, in: place } of operation.parameters) {
    const value = values[name];
    if (value === undefined) continue;
    if (place === 'query') query.set(name, value);
    if (place === 'header') headers[name] = value;
  }
  const type = bodyType(operation);
  if (body !== undefined && type !== undefined) headers['content-type'] = type;
  const search = query.size > 0 ? `?${query.toString()}` : '';
  return {
    path: `/${operation.service}${pathOf(operation, values)}${search}`,
    init: { method: operation.verb, headers, ...(body === undefined ? {} : { body: written(body, type) }) },
  };
}

/** The content type that an example is sent as: the first of the documented ones; bytes where any type is taken. */
function bodyType({ body }: Operation): string | undefined {
  const [type] = body?.contentTypes ?? [];
  return type === '*/*' ? 'application/octet-stream' : type;
}

function written(body: unknown, type: string | undefined): string {
  if (type === 'application/x-www-form-urlencoded')
    return new URLSearchParams(body as Record<string, string>).toString();
  return type === undefined || type.endsWith('json') ? JSON.stringify(body) : String(body);
}

/**
 * The example of the request body; undefined where there is none. Ids that clients make carry the time at which they were made,
 * and those of the examples grow too old.
 */
export function exampleBody(operation: Operation): unknown {
  const [media] = Object.values(documented(operation).entry.requestBody?.content ?? {});
  if (!media?.schema) return undefined;
  const { schema } = media;
  if (schema['contentMediaType'] !== undefined) return 'example';
  const example = exampleOf(operation, schema);
  if (example === undefined) return undefined;
  return JSON.parse(
    JSON.stringify(example).replaceAll(/kuse_[0-7][0-9a-z]{25}/g, () => typeidUnboxed('kuse')),
  );
}

/** The schema of the request body where that is JSON. */
export function bodySchema(operation: Operation): Schema | undefined {
  return documented(operation).entry.requestBody?.content['application/json']?.schema;
}

/** The nearest example: a model made from another one has that one's examples before its own. */
export function exampleOf({ service }: Operation, schema: Schema): unknown {
  const { examples, default: initial, enum: closed } = resolve(service, schema);
  return examples?.at(-1) ?? initial ?? (closed as unknown[] | undefined)?.[0];
}

function requiredParameters(operation: Operation): Record<string, string> {
  const required = parametersOf(operation).filter(({ required }) => required);
  return Object.fromEntries(required.map((parameter) => [parameter.name, exampleText(operation, parameter)]));
}

function exampleText(operation: Operation, { name, schema }: ParameterObject): string {
  const example = exampleOf(operation, schema);
  if (typeof example === 'string' || typeof example === 'number') return String(example);
  throw new Error(`${operation.service}.${operation.id}: parameter ${name} has no example`);
}

/** The path with its parameters; slashes of a greedy one stay as they are. */
export function pathOf({ path }: Operation, values: Readonly<Record<string, string>>): string {
  const value = (name: string) => (values[name] ?? '').toWellFormed();
  return path
    .replaceAll(/\{\+([^}]+)\}/g, (_, name: string) => encodeURI(value(name)))
    .replaceAll(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(value(name)));
}
