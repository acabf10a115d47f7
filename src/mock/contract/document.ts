import { readFileSync } from 'node:fs';
import { services, type ServiceName } from '../../../generated/operations.ts';

/** The members of a contract schema that the mock reads. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
  readonly [keyword: string]: unknown;
}

export interface MediaType {
  readonly schema?: Schema;
  /** The example of this answer. Without it, the schema's example applies. */
  readonly example?: unknown;
  /** Several examples of this answer, in place of one. */
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly schema: Schema;
}

export interface DocumentOperation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, MediaType>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, MediaType>> }>>;
  /** Event name → schema of its data. */
  readonly 'x-events'?: Readonly<Record<string, Schema>>;
  /** Message of a WebSocket → its schema. */
  readonly 'x-messages'?: Readonly<Record<string, Schema>>;
  /** Another path for the same operation. */
  readonly 'x-alias'?: string;
}

/** An OpenAPI document of the contract. */
export interface Document {
  readonly servers?: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters?: Readonly<Record<string, Parameter>>;
  };
}

export const fileOf = (name: ServiceName): URL =>
  new URL(`../../../tsp-output/openapi/${services[name].document}.json`, import.meta.url);

/** Reads the document of a service. With an address, the document's examples contain it in place of the server's address. */
export function readDocument(name: ServiceName, address?: string): Document {
  const text = readFileSync(fileOf(name), 'utf8');
  const document = JSON.parse(text) as Document;
  const [server] = document.servers ?? [];
  if (!server || address === undefined) return document;
  const { origin } = new URL(server.url);
  return JSON.parse(
    text
      .replaceAll(`${origin}/`, `${address}/`)
      .replaceAll(encodeURIComponent(`${origin}/`), encodeURIComponent(`${address}/`)),
  ) as Document;
}

/** Returns the operation with this id. @throws Error when the document and the operations table come from different generator runs */
export function operationOf({ paths }: Document, id: string): DocumentOperation {
  for (const item of Object.values(paths)) {
    for (const operation of Object.values(item)) if (operation.operationId === id) return operation;
  }
  throw new Error(`${id} is not in the document: run npm run generate`);
}

/** Returns the schema to which a reference points. */
export function resolve(document: Document, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const found = document.components.schemas[schema.$ref.replace('#/components/schemas/', '')];
  if (!found) throw new Error(`${schema.$ref} is not in the document`);
  return resolve(document, found);
}

/**
 * Returns the example of a schema. A derived model lists its base model's examples before its own, so the last example is the
 * nearest. Without an example, a list has its item's example, and an enum its first value.
 */
export function exampleOf(document: Document, schema: Schema): unknown {
  const { examples, default: initial, enum: closed, items } = resolve(document, schema);
  const own = examples?.at(-1) ?? initial ?? closed?.[0];
  return own === undefined && items ? [exampleOf(document, items)] : own;
}

/** Returns the example of an answer: its own, or that of its schema. */
export function exampleOfMedia(document: Document, { example, schema }: MediaType): unknown {
  return example ?? (schema && exampleOf(document, schema));
}

/** Returns the schema of a parameter, or undefined when the operation does not have the parameter. */
export function parameterSchema(
  document: Document,
  { parameters = [] }: DocumentOperation,
  name: string,
): Schema | undefined {
  const shared = (reference: string) =>
    document.components.parameters?.[reference.replace('#/components/parameters/', '')];
  const all = parameters.map((one) => (one.$ref === undefined ? one : shared(one.$ref)));
  return all.find((one) => one?.name === name)?.schema;
}
