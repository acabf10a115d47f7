/** The OpenAPI documents as tests see them: which operation a request belongs to, and which form its answers must have. */
import { readFileSync } from 'node:fs';
import { operations, services, type Operation, type ServiceName } from '../generated/operations.ts';

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly examples?: readonly unknown[];
  readonly [keyword: string]: unknown;
}

export interface MediaType {
  readonly schema?: Schema;
  /** The example of this answer, if it differs from its schema's example. */
  readonly example?: unknown;
}

export interface DocumentOperation {
  readonly operationId: string;
  readonly parameters?: readonly (ParameterObject | { readonly $ref: string })[];
  readonly requestBody?: { readonly content: Readonly<Record<string, MediaType>> };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly headers?: Readonly<Record<string, { readonly required?: boolean; readonly schema: Schema }>>;
        readonly content?: Readonly<Record<string, MediaType>>;
      }
    >
  >;
  /** Event name → schema of its data, for a stream of server-sent events. */
  readonly 'x-events'?: Readonly<Record<string, Schema>>;
  /** Type of a message → its schema, for a WebSocket. */
  readonly 'x-messages'?: Readonly<Record<string, Schema>>;
}

export interface ParameterObject {
  readonly $ref?: undefined;
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: Schema;
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters?: Readonly<Record<string, ParameterObject>>;
  };
}

/** Returns a name that is unique across all services: `authz.Roles_create`. */
export const nameOf = ({ service, id }: Operation): string => `${service}.${id}`;

const documents = new Map<ServiceName, Document>();

export function documentOf(service: ServiceName): Document {
  let document = documents.get(service);
  if (!document) {
    const file = new URL(`../tsp-output/openapi/${services[service].document}.json`, import.meta.url);
    document = JSON.parse(readFileSync(file, 'utf8')) as Document;
    documents.set(service, document);
  }
  return document;
}

interface Documented {
  readonly path: string;
  readonly verb: string;
  readonly entry: DocumentOperation;
}
const entries = new Map<ServiceName, Map<string, Documented>>();

/** Returns the place of an operation in its document, and its entry. */
export function documented(operation: Operation): Documented {
  const { service, id } = operation;
  let own = entries.get(service);
  if (!own) {
    own = new Map(
      Object.entries(documentOf(service).paths).flatMap(([path, item]) =>
        Object.entries(item).map(([verb, entry]) => [entry.operationId, { path, verb, entry }] as const),
      ),
    );
    entries.set(service, own);
  }
  const found = own.get(id);
  if (!found) throw new Error(`${nameOf(operation)} is not in its document`);
  return found;
}

export function resolve(service: ServiceName, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const found = documentOf(service).components.schemas[schema.$ref.replace('#/components/schemas/', '')];
  if (!found) throw new Error(`${schema.$ref} is not in the document of ${service}`);
  return resolve(service, found);
}

export function parametersOf(operation: Operation): ParameterObject[] {
  const shared = documentOf(operation.service).components.parameters ?? {};
  return (documented(operation).entry.parameters ?? []).map((parameter) => {
    if (parameter.$ref === undefined) return parameter;
    const found = shared[parameter.$ref.replace('#/components/parameters/', '')];
    if (!found) throw new Error(`${parameter.$ref} is not in the document of ${operation.service}`);
    return found;
  });
}

const routes = operations
  .map((operation) => ({
    operation,
    // A literal segment sorts before a parameter, and a path that continues after a greedy parameter sorts before one that ends
    // with it.
    order: `${operation.path.replaceAll(/\{[^}]+\}/g, '~')}~`,
    pattern: new RegExp(
      `^/${operation.service}${operation.path
        .replaceAll('.', '\\.')
        .replaceAll(/\{\+[^}]+\}/g, '.+')
        .replaceAll(/\{[^}]+\}/g, '[^/]+')}$`,
    ),
  }))
  .sort((a, b) => (a.order < b.order ? -1 : 1));

/** Returns the operation of a request, by its method and its path in the all-in-one server. */
export function operationAt(method: string, path: string): Operation | undefined {
  const found = routes.filter(({ pattern }) => pattern.test(path));
  return found.find(({ operation, order }) => order === found[0]?.order && operation.verb === method)
    ?.operation;
}
