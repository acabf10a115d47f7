/** Reads the compiled OpenAPI documents into the shape that every generator of this folder works from. */
/** A JSON schema of an OpenAPI 3.1 document. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  default?: unknown;
  enum?: unknown[];
  const?: unknown;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  unevaluatedProperties?: Schema;
  readOnly?: boolean;
  examples?: unknown[];
  'x-ignored'?: string[];
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: Schema;
  /** Whether an array is written as a parameter for each value; as one for all of them where it is false. */
  explode?: boolean;
  'x-greedy'?: boolean;
}

export interface MediaType {
  schema: Schema;
}

export interface Response {
  status: number;
  description: string;
  contentType: string | null;
  schema: Schema | null;
  headers: string[];
}

export interface Operation {
  id: string;
  resource: string;
  method: string;
  verb: string;
  path: string;
  description: string;
  access: string;
  parameters: Parameter[];
  body: null | { required: boolean; content: Record<string, MediaType>; limit: number; ignored: string[] };
  responses: Response[];
  /** Event name → schema, for an operation that answers a stream of server-sent events. */
  events: Record<string, Schema> | null;
}

export interface ServiceContract {
  /** The folder and the name in the code: `authz`. */
  name: string;
  /** The document's file name without its ending: `Authz`. */
  document: string;
  title: string;
  description: string;
  schemas: Record<string, Schema>;
  operations: Operation[];
  /** The document as the compiler wrote it. */
  openapi: Record<string, unknown>;
}

interface RawOperation {
  operationId: string;
  description?: string;
  parameters?: (RawParameter | { $ref: string })[];
  requestBody?: { required?: boolean; content: Record<string, MediaType> };
  responses: Record<
    string,
    { description: string; headers?: Record<string, unknown>; content?: Record<string, MediaType> }
  >;
  'x-access'?: string;
  'x-body-limit'?: number;
  'x-events'?: Record<string, Schema>;
}
type RawParameter = Parameter & { $ref?: undefined };

interface RawDocument {
  info: { title: string; description?: string };
  paths: Record<string, Record<string, RawOperation>>;
  components: { schemas: Record<string, Schema>; parameters?: Record<string, Parameter> };
}

const JSON_BODY_LIMIT = 1024 * 1024;

/** One document, by the name of its file without the ending: `Authz`. */
export function parseService(document: string, text: string): ServiceContract {
  const raw = JSON.parse(text) as RawDocument;
  return {
    name: document.toLowerCase(),
    document,
    title: raw.info.title,
    description: raw.info.description ?? '',
    schemas: raw.components.schemas,
    operations: Object.entries(raw.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([verb, operation]) => readOperation(raw, path, verb, operation)),
    ),
    openapi: JSON.parse(text) as Record<string, unknown>,
  };
}

function readOperation(raw: RawDocument, path: string, verb: string, operation: RawOperation): Operation {
  const [resource = '', method = ''] = operation.operationId.split('_');
  const parameters = (operation.parameters ?? []).map((parameter) => readParameter(raw, parameter));
  const greedy = parameters.find((parameter) => parameter['x-greedy']);
  return {
    id: operation.operationId,
    resource,
    method,
    verb: verb.toUpperCase(),
    path: greedy ? path.replace(`{${greedy.name}}`, `{+${greedy.name}}`) : path,
    description: operation.description ?? '',
    access: operation['x-access'] ?? (verb === 'get' || verb === 'head' ? 'read' : 'write'),
    parameters,
    body: operation.requestBody ? readBody(raw, operation.requestBody, operation['x-body-limit']) : null,
    responses: Object.entries(operation.responses).map(([status, response]) => {
      const [contentType, media] = Object.entries(response.content ?? {})[0] ?? [null, null];
      return {
        status: Number(status),
        description: response.description,
        contentType,
        schema: media?.schema ?? null,
        headers: Object.keys(response.headers ?? {}),
      };
    }),
    events: operation['x-events'] ?? null,
  };
}

function readParameter(raw: RawDocument, parameter: RawParameter | { $ref: string }): Parameter {
  if (parameter.$ref === undefined) return parameter;
  const name = parameter.$ref.split('/').at(-1) ?? '';
  const found = raw.components.parameters?.[name];
  if (!found) throw new Error(`${parameter.$ref} is not in the document`);
  return found;
}

function readBody(
  raw: RawDocument,
  body: NonNullable<RawOperation['requestBody']>,
  limit: number | undefined,
) {
  const schema = body.content['application/json']?.schema;
  return {
    required: body.required ?? false,
    content: body.content,
    limit: limit ?? JSON_BODY_LIMIT,
    ignored: schema ? (resolve(raw.components.schemas, schema)['x-ignored'] ?? []) : [],
  };
}

/** The schema that a reference stands for. */
export function resolve(schemas: Record<string, Schema>, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const found = schemas[refName(schema.$ref)];
  if (!found) throw new Error(`${schema.$ref} is not in the document`);
  return resolve(schemas, found);
}

export const successes = (operation: Operation): Response[] =>
  operation.responses.filter((response) => response.status < 400);

export const refName = (ref: string): string => ref.replace('#/components/schemas/', '');

/** The operations of a service by interface, both in the order of the document. */
export function byResource(service: ServiceContract): Map<string, Operation[]> {
  const resources = new Map<string, Operation[]>();
  for (const operation of service.operations) {
    const list = resources.get(operation.resource) ?? [];
    resources.set(operation.resource, [...list, operation]);
  }
  return resources;
}
