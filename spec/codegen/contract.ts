/** Reads the compiled OpenAPI documents into the form that every generator in this folder uses. */
import { anyTextsOf } from './any-texts.ts';
import { exactNumbersOf } from './exact-numbers.ts';
import { leewayOf, type Leeway } from './leeway.ts';
import { momentsOf } from './moments.ts';
import type { Places } from './places.ts';

/** A JSON schema of an OpenAPI 3.1 document. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  default?: unknown;
  format?: string;
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
  /** Members that only the server sets: a change may carry them as they were read. */
  'x-ignored'?: string[];
  /** Whether a request that creates nothing may carry them too. */
  'x-written-back'?: boolean;
  /** Whether its members are also accepted in other cases and with underscores. */
  'x-folded'?: boolean;
  /** Whether the text may be any string, even with U+0000 or lone surrogates. */
  'x-any-text'?: boolean;
  'x-exact'?: boolean;
  /** Members that `null` resets to their default, with that default. */
  'x-restores'?: Record<string, unknown>;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: Schema;
  /** Whether each value of an array is its own parameter. If false, one parameter holds all values. */
  explode?: boolean;
  'x-greedy'?: boolean;
  /** Whether the HTTP frame reads the parameter for all handlers. */
  'x-frame'?: boolean;
  /** Where its value contains times, derived from the schema. */
  moments?: Places;
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
  /** The content types that the answer may have, the usual one first; empty for an answer without content. */
  content: Content[];
  headers: string[];
}

export interface TimeLimits {
  body?: number;
  silence?: number;
}

export interface PrefixedHeaders {
  prefix: string;
  member: string;
  count: number;
  bytes: number;
}

export interface Operation {
  id: string;
  resource: string;
  method: string;
  verb: string;
  path: string;
  /** Other paths of the operation. */
  aliases: string[];
  description: string;
  access: string;
  /** Whether the operation is public but also recognises a credential of the platform. */
  optionalCredentials: boolean;
  /** Whether unknown query parameters are ignored. */
  tolerant: boolean;
  /** The status of a failure of the database, where it is not the usual 503. */
  storeFailure: 500 | undefined;
  /** Seconds in which its body must arrive, and for which nothing may move. */
  timeLimits: TimeLimits | undefined;
  /** Headers of its requests that are named by a prefix. */
  prefixedHeaders: PrefixedHeaders | undefined;
  /** The prefix of headers that its responses may carry besides the documented ones. */
  answeredPrefix: string | undefined;
  /** The parameters of its handler. */
  parameters: Parameter[];
  /** Whether an `Idempotency-Key` makes the operation safe to repeat, independently of its handler. */
  repeatable: boolean;
  body: null | {
    required: boolean;
    content: Record<string, MediaType>;
    limit: number;
    leeway: Leeway | null;
    /** Where the body contains times. */
    moments: Places | null;
    /** Where the body contains texts that may be any string. */
    anyTexts: Places | null;
    /** Where the body contains numbers that are kept exactly. */
    exactNumbers: Places | null;
  };
  responses: Response[];
  /** Event name → schema, for an operation that answers with a stream of server-sent events. */
  events: Record<string, Schema> | null;
  /** Whether the JSON of a success is sent as it is produced. */
  streamed: boolean;
  /** The schema of the lines of an answer in NDJSON. */
  lines: Schema | undefined;
}

export interface ServiceContract {
  /** The name of the folder and in code: `authz`. */
  name: string;
  /** The document's file name without its extension: `Authz`. */
  document: string;
  title: string;
  description: string;
  /** Whether its `tenant_id` names a tenant that is a resource of the service, not the caller's tenant. */
  ownTenants: boolean;
  /** Whether apps are resources of the service itself, which checks every `app_id`. */
  ownApps: boolean;
  schemas: Record<string, Schema>;
  operations: Operation[];
  /** The document as the compiler wrote it. */
  openapi: Record<string, unknown>;
}

interface RawOperation {
  operationId: string;
  summary?: string;
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
  'x-repeatable'?: boolean;
  'x-body-limit'?: number;
  'x-time-limits'?: TimeLimits;
  'x-prefixed-headers'?: PrefixedHeaders;
  'x-answered-prefix'?: string;
  'x-events'?: Record<string, Schema>;
  'x-streamed'?: boolean;
  'x-lines'?: Schema;
}
type RawParameter = Parameter & { $ref?: undefined };

interface RawDocument {
  info: { title: string; description?: string };
  paths: Record<string, Record<string, RawOperation>>;
  'x-store-failure'?: 500;
  components: { schemas: Record<string, Schema>; parameters?: Record<string, Parameter> };
}

const JSON_BODY_LIMIT = 1024 * 1024;

/** Parses one document. `document` is its file name without the extension: `Authz`. */
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

/** A caller's tenant may be `default`. A `TenantId` that may not be `default` is the id of something else. */
function hasOwnTenants({ TenantId: id }: Record<string, Schema>): boolean {
  return id?.pattern !== undefined && !new RegExp(id.pattern).test('default');
}

function readOperation(raw: RawDocument, path: string, verb: string, operation: RawOperation): Operation {
  const [resource = '', method = ''] = operation.operationId.split('_');
  const all = (operation.parameters ?? []).map((parameter) => readParameter(raw, parameter));
  const parameters = all.filter((parameter) => !parameter['x-frame']);
  const greedy = parameters.find((parameter) => parameter['x-greedy']);
  return {
    id: operation.operationId,
    resource,
    method,
    verb: verb.toUpperCase(),
    path: greedy ? path.replace(`{${greedy.name}}`, `{+${greedy.name}}`) : path,
    aliases: operation['x-alias'] === undefined ? [] : [operation['x-alias']],
    description: describe(operation),
    access: operation['x-access'] ?? (verb === 'get' || verb === 'head' ? 'read' : 'write'),
    optionalCredentials: takesCredentials(operation),
    tolerant: operation['x-tolerant'] ?? false,
    timeLimits: operation['x-time-limits'],
    prefixedHeaders: operation['x-prefixed-headers'],
    answeredPrefix: operation['x-answered-prefix'],
    storeFailure: '503' in operation.responses ? raw['x-store-failure'] : undefined,
    parameters,
    repeatable: isRepeatable(operation, all),
    body: readBody(raw, verb, raw.paths[path]?.['get'] !== undefined, operation),
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
    streamed: operation['x-streamed'] ?? false,
    lines: operation['x-lines'],
  };
}

/** Joins the summary and the description: the document has the first sentence as its title, but code has one comment for both. */
function describe({ summary = '', description = '' }: RawOperation): string {
  if (summary === '' || description.replaceAll('\n', ' ').startsWith(summary)) return description;
  const gap = description.startsWith('Needs ') ? '\n\n' : ' ';
  return description === '' ? `${summary}.` : `${summary}.${gap}${description}`;
}

/** An operation that asks for the key but cannot tell that one was used before would not get it. */
function isRepeatable(operation: RawOperation, parameters: readonly Parameter[]): boolean {
  const takesKey = parameters.some((one) => one['x-frame'] && one.name === 'Idempotency-Key');
  if (operation['x-repeatable'] && !takesKey)
    throw new Error(`${operation.operationId}: @repeatable needs a POST that documents a 409`);
  return takesKey;
}

/** The credentials of the platform. A public operation reads other credentials, such as a client's password, itself. */
const platform = ['BearerAuth', 'ApiKeyAuth'];

function takesCredentials({ 'x-access': access, security = [] }: RawOperation): boolean {
  return access === 'public' && security.some((option) => platform.some((scheme) => scheme in option));
}

function readParameter(raw: RawDocument, given: RawParameter | { $ref: string }): Parameter {
  const parameter = namedParameter(raw, given);
  const moments = momentsOf(raw.components.schemas, parameter.schema);
  return moments ? { ...parameter, moments } : parameter;
}

function namedParameter(raw: RawDocument, parameter: RawParameter | { $ref: string }): Parameter {
  if (parameter.$ref === undefined) return parameter;
  const name = parameter.$ref.split('/').at(-1) ?? '';
  const found = raw.components.parameters?.[name];
  if (!found) throw new Error(`${parameter.$ref} is not in the document`);
  return found;
}

function readBody(
  raw: RawDocument,
  verb: string,
  readable: boolean,
  { requestBody: body, 'x-body-limit': limit }: RawOperation,
) {
  if (!body) return null;
  const schema = structured(body.content)?.schema;
  return {
    required: body.required ?? false,
    content: body.content,
    limit: limit ?? JSON_BODY_LIMIT,
    leeway: schema ? leewayOf(raw.components.schemas, schema, verb, readable) : null,
    moments: schema ? momentsOf(raw.components.schemas, schema) : null,
    anyTexts: schema ? anyTextsOf(raw.components.schemas, schema) : null,
    exactNumbers: schema ? exactNumbersOf(raw.components.schemas, schema) : null,
  };
}

/** Returns the schema of a parsed body: some kind of JSON, or a form. Returns undefined for a body that is passed on unparsed. */
export function structured(content: Record<string, MediaType>): MediaType | undefined {
  const parsed = Object.entries(content).filter(([type]) => isJson(type) || isForm(type));
  const [first, ...others] = parsed.map(([, media]) => media);
  if (others.some((other) => JSON.stringify(other.schema) !== JSON.stringify(first?.schema)))
    throw new Error(`${parsed.map(([type]) => type).join(' and ')} have to have the same schema`);
  return first;
}

export const isJson = (contentType: string) => /^application\/([\w.-]+\+)?json$/.test(contentType);
const isForm = (contentType: string) => contentType === 'application/x-www-form-urlencoded';

/** Returns the schema to which a reference points. */
export function resolve(schemas: Record<string, Schema>, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const found = schemas[refName(schema.$ref)];
  if (!found) throw new Error(`${schema.$ref} is not in the document`);
  return resolve(schemas, found);
}

export const successes = (operation: Operation): Response[] =>
  operation.responses.filter((response) => response.status < 400);

/** Whether other schemas affect which members of a value are known. */
export const isComposed = (schema: object): boolean =>
  ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'not', 'dependentSchemas'].some(
    (key) => key in schema,
  );

export const refName = (ref: string): string => ref.replace('#/components/schemas/', '');

/** Groups the operations of a service by interface, both in the order of the document. */
export function byResource(service: ServiceContract): Map<string, Operation[]> {
  const resources = new Map<string, Operation[]>();
  for (const operation of service.operations) {
    const list = resources.get(operation.resource) ?? [];
    resources.set(operation.resource, [...list, operation]);
  }
  return resources;
}
