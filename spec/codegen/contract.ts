/** Reads the compiled OpenAPI documents into the shape that every generator of this folder works from. */
import { leewayOf, type Leeway } from './leeway.ts';

/** A JSON schema of an OpenAPI 3.1 document. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  default?: unknown;
  pattern?: string;
  maxLength?: number;
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
  /** Members that only the server sets: accepted in requests and ignored. */
  'x-ignored'?: string[];
  /** Members for which `null` gives the default back, with that default. */
  'x-restores'?: Record<string, unknown>;
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

export interface Content {
  contentType: string;
  schema: Schema;
}

export interface Response {
  status: number;
  description: string;
  /** The forms that the answer may have, the usual one first; none for an answer without content. */
  content: Content[];
  headers: string[];
}

export interface Operation {
  id: string;
  resource: string;
  method: string;
  verb: string;
  path: string;
  /** Other paths that lead to it. */
  aliases: string[];
  description: string;
  access: string;
  /** It is public, and a credential of the platform counts nevertheless. */
  optionalCredentials: boolean;
  /** Query parameters that it does not know are ignored. */
  tolerant: boolean;
  parameters: Parameter[];
  body: null | {
    required: boolean;
    content: Record<string, MediaType>;
    limit: number;
    leeway: Leeway | null;
  };
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
  /** Its `tenant_id` names a tenant that is a resource of its own, not the tenant of the caller. */
  ownTenants: boolean;
  /** Apps are resources of the service itself, which judges every `app_id`. */
  ownApps: boolean;
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
  security?: Record<string, unknown>[];
  'x-access'?: string;
  'x-alias'?: string;
  'x-tolerant'?: boolean;
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
    ownTenants: hasOwnTenants(raw.components.schemas),
    ownApps: 'App' in raw.components.schemas,
    schemas: raw.components.schemas,
    operations: Object.entries(raw.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([verb, operation]) => readOperation(raw, path, verb, operation)),
    ),
    openapi: JSON.parse(text) as Record<string, unknown>,
  };
}

/** The tenant of a caller may be `default`; a `TenantId` that may not is the id of something else. */
function hasOwnTenants({ TenantId: id }: Record<string, Schema>): boolean {
  return id?.pattern !== undefined && !new RegExp(id.pattern).test('default');
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
    aliases: operation['x-alias'] === undefined ? [] : [operation['x-alias']],
    description: operation.description ?? '',
    access: operation['x-access'] ?? (verb === 'get' || verb === 'head' ? 'read' : 'write'),
    optionalCredentials: takesCredentials(operation),
    tolerant: operation['x-tolerant'] ?? false,
    parameters,
    body: operation.requestBody
      ? readBody(raw, verb, operation.requestBody, operation['x-body-limit'])
      : null,
    responses: Object.entries(operation.responses).map(([status, response]) => ({
      status: Number(status),
      description: response.description,
      content: Object.entries(response.content ?? {}).map(([contentType, { schema }]) => ({
        contentType,
        schema,
      })),
      headers: Object.keys(response.headers ?? {}),
    })),
    events: operation['x-events'] ?? null,
  };
}

/** The credentials of the platform; what else a public operation takes, such as a client's password, it reads itself. */
const platform = ['BearerAuth', 'ApiKeyAuth'];

function takesCredentials({ 'x-access': access, security = [] }: RawOperation): boolean {
  return access === 'public' && security.some((option) => platform.some((scheme) => scheme in option));
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
  verb: string,
  body: NonNullable<RawOperation['requestBody']>,
  limit: number | undefined,
) {
  const schema = structured(body.content)?.schema;
  return {
    required: body.required ?? false,
    content: body.content,
    limit: limit ?? JSON_BODY_LIMIT,
    leeway: schema ? leewayOf(raw.components.schemas, schema, verb) : null,
  };
}

/** The schema of a body that is parsed: JSON of some kind, or a form. Undefined for a body that is handed on as it comes. */
export function structured(content: Record<string, MediaType>): MediaType | undefined {
  const parsed = Object.entries(content).filter(([type]) => isJson(type) || isForm(type));
  const [first, ...others] = parsed.map(([, media]) => media);
  if (others.some((other) => JSON.stringify(other.schema) !== JSON.stringify(first?.schema)))
    throw new Error(`${parsed.map(([type]) => type).join(' and ')} have to have the same schema`);
  return first;
}

export const isJson = (contentType: string) => /^application\/([\w.-]+\+)?json$/.test(contentType);
const isForm = (contentType: string) => contentType === 'application/x-www-form-urlencoded';

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
