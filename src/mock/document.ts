import { readFileSync } from 'node:fs';
import { services, type ServiceName } from '../../generated/operations.ts';

/** What the mock reads of a schema of the contract. */
export interface Schema {
  readonly $ref?: string;
  readonly examples?: readonly unknown[];
  readonly [keyword: string]: unknown;
}

export interface MediaType {
  readonly schema?: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface DocumentOperation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, MediaType>> }>>;
  /** Event name → schema of its data. */
  readonly 'x-events'?: Readonly<Record<string, Schema>>;
}

/** An OpenAPI document of the contract. */
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export function readDocument(name: ServiceName): Document {
  const file = new URL(`../../tsp-output/openapi/${services[name].document}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as Document;
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
 * the nearest.
 */
export function exampleOf(document: Document, schema: Schema): unknown {
  return resolve(document, schema).examples?.at(-1);
}
