/** Valid requests, built from the contract's examples, and ways to break any request. */
import { typeidUnboxed } from 'typeid-js';
import type { Operation } from '../generated/operations.ts';
import { isObject } from './coherence.ts';
import { documented, parametersOf, type ParameterObject, type Schema } from './contract.ts';
import { exampleOf, requestExample } from './examples.ts';

/** A request in its wire form, without credentials. */
export interface WireRequest {
  readonly path: string;
  readonly init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body?: string;
  };
}

export interface Parts {
  /** Path, query and header parameters by name. Without them, the required ones have their examples. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** The body as JSON. Defaults to the example. */
  readonly body?: unknown;
}

/** Returns a request that the contract allows. The things that it names need not exist. */
export function exampleRequest(
  operation: Operation,
  { parameters = {}, body = exampleBody(operation) }: Parts = {},
): WireRequest {
  const values = { ...requiredTexts(operation), ...parameters };
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  for (const { name, in: place } of operation.parameters) {
    const value = values[name];
    if (value === undefined) continue;
    if (place === 'query') query.set(name, value);
    if (place === 'header') headers[name] = value;
  }
  if (body !== undefined) headers['content-type'] = contentTypeOf(operation);
  const search = query.size > 0 ? `?${query.toString()}` : '';
  return {
    path: `/${operation.service}${pathOf(operation, values)}${search}`,
    init: {
      method: operation.verb,
      headers,
      ...(body === undefined ? {} : { body: encoded(contentTypeOf(operation), body) }),
    },
  };
}

/**
 * Returns the example of the request body: undefined when there is none, a few bytes when it may be anything. Ids that clients
 * create contain their creation time, so those of the examples would be too old.
 */
export function exampleBody(operation: Operation): unknown {
  const example = requestExample(operation);
  if (example === undefined) return undefined;
  if (example.value === undefined) return 'some bytes';
  return JSON.parse(
    JSON.stringify(example.value).replaceAll(/kuse_[0-7][0-9a-z]{25}/g, () => typeidUnboxed('kuse')),
  );
}

/** Returns the schema of a JSON body or a form. */
export function bodySchema(operation: Operation): Schema | undefined {
  const content = documented(operation).entry.requestBody?.content;
  return (content?.['application/json'] ?? content?.[form])?.schema;
}

const form = 'application/x-www-form-urlencoded';

export const takesForm = ({ body }: Operation): boolean => body?.contentTypes[0] === form;

/** Returns the part of a value that a form can contain. */
export const formMembers = (value: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(isObject(value) ? value : {}).map(([name, member]) => [
      name.toWellFormed(),
      textOf(member),
    ]),
  );

/** Returns the text form of a value. */
export const textOf = (value: unknown): string =>
  (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed();

/** Returns the content type to send. If any type is accepted, it sends bytes. */
export function contentTypeOf(operation: Operation): string {
  const { contentType = '*/*' } = requestExample(operation) ?? {};
  return contentType === '*/*' ? 'application/octet-stream' : contentType;
}

function encoded(contentType: string, body: unknown): string {
  if (contentType === form) return new URLSearchParams(body as Record<string, string>).toString();
  return contentType === 'application/json' ? JSON.stringify(body) : String(body);
}

const requiredTexts = (operation: Operation): Record<string, string> =>
  Object.fromEntries(
    Object.entries(requiredParameters(operation)).map(([name, value]) => [name, String(value)]),
  );

/** Returns the examples of an operation's required parameters, as values. */
export function requiredParameters(operation: Operation): Record<string, unknown> {
  const required = parametersOf(operation).filter(({ required }) => required);
  return Object.fromEntries(
    required.map((parameter) => [parameter.name, exampleValue(operation, parameter)]),
  );
}

function exampleValue(operation: Operation, { name, schema }: ParameterObject): unknown {
  const example = exampleOf(operation.service, schema);
  if (example !== undefined && example !== null) return example;
  throw new Error(`${operation.service}.${operation.id}: parameter ${name} has no example`);
}

/** Returns the path with its parameters. Slashes in a greedy parameter stay unescaped. */
export function pathOf({ path }: Operation, values: Readonly<Record<string, string>>): string {
  const value = (name: string) => (values[name] ?? '').toWellFormed();
  return path
    .replaceAll(/\{\+([^}]+)\}/g, (_, name: string) => encodeURI(value(name)))
    .replaceAll(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(value(name)));
}
