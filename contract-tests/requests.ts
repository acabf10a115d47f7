/** Valid requests, made from the examples of the contract; and what can be wrong with any request. */
import { typeidUnboxed } from 'typeid-js';
import type { Operation } from '../generated/operations.ts';
import { isObject } from './coherence.ts';
import { documented, parametersOf, type ParameterObject, type Schema } from './contract.ts';
import { exampleOf, requestExample } from './examples.ts';

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
 * The example of the request body; undefined where there is none, a few bytes where it may be any. Ids that clients make carry
 * the time at which they were made, and those of the examples grow too old.
 */
export function exampleBody(operation: Operation): unknown {
  const example = requestExample(operation);
  if (example === undefined) return undefined;
  if (example.value === undefined) return 'some bytes';
  return JSON.parse(
    JSON.stringify(example.value).replaceAll(/kuse_[0-7][0-9a-z]{25}/g, () => typeidUnboxed('kuse')),
  );
}

/** The schema of a JSON body or a form. */
export function bodySchema(operation: Operation): Schema | undefined {
  const content = documented(operation).entry.requestBody?.content;
  return (content?.['application/json'] ?? content?.[form])?.schema;
}

const form = 'application/x-www-form-urlencoded';

export const takesForm = ({ body }: Operation): boolean => body?.contentTypes[0] === form;

/** What a form can carry of a value. */
export const formMembers = (value: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(isObject(value) ? value : {}).map(([name, member]) => [
      name.toWellFormed(),
      textOf(member),
    ]),
  );

/** A value where there is nothing but text. */
export const textOf = (value: unknown): string =>
  (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed();

/** That any type is taken says nothing about which one to send. */
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

/** The examples of the parameters that an operation cannot do without, as values. */
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

/** The path with its parameters; slashes of a greedy one stay as they are. */
export function pathOf({ path }: Operation, values: Readonly<Record<string, string>>): string {
  const value = (name: string) => (values[name] ?? '').toWellFormed();
  return path
    .replaceAll(/\{\+([^}]+)\}/g, (_, name: string) => encodeURI(value(name)))
    .replaceAll(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(value(name)));
}
