import { readFileSync } from 'node:fs';
import { services, type ServiceName } from '../../generated/operations.ts';

/** What the mock reads of a schema of the contract. */
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
  /** Of this answer alone; without it that of the schema. */
  readonly example?: unknown;
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
  /** Another path that means the same operation. */
  readonly 'x-alias'?: string;
}

/** An OpenAPI document of the contract. */
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters?: Readonly<Record<string, Parameter>>;
  };
}

export const fileOf = (name: ServiceName): URL =>
  new URL(`../../tsp-output/openapi/${services[name].document}.json`, import.meta.url);

export function readDocument(name: ServiceName): Document {
  return JSON.parse(readFileSync(fileOf(name), 'utf8')) as Document;
}

/** The operation with this id. Throws where the document and the operations table are not of one generation. */
export function operationOf({ paths }: Document, id: string): DocumentOperation {
  for (const item of Object.values(paths)) {
    for (const operation of Object.values(item)) if (operation.operationId === id) return operation;
  }
  throw new Error(`${id} is not in the document: run npm run generate`);
}

/** The schema that a reference stands for. */
export function resolve(document: Document, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const found = document.components.schemas[schema.$ref.replace('#/components/schemas/', '')];
  if (!found) throw new Error(`${schema.$ref} is not in the document`);
  return resolve(document, found);
}

/**
 * The example of a schema. A model that is made from another one has that one's examples before its own, so the last one is
 * the nearest. A list without one has its item's, a closed choice its first.
 */
export function exampleOf(document: Document, schema: Schema): unknown {
  const { examples, default: initial, enum: closed, items } = resolve(document, schema);
  const own = examples?.at(-1) ?? initial ?? closed?.[0];
  return own === undefined && items ? [exampleOf(document, items)] : own;
}

/** The example of an answer: its own, or that of its schema. */
export function exampleOfMedia(document: Document, { example, schema }: MediaType): unknown {
  return example ?? (schema && exampleOf(document, schema));
}

/** The schema of a parameter; undefined where the operation does not have it. */
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
