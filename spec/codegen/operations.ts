/** The operations table: the runtime, the mock and the tests learn the contract from it. */
import type { Operation, Parameter, ServiceContract } from './contract.ts';
import { header } from './source.ts';

const declarations = `
export type Verb = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
/**
 * \`read\`, \`write\` and \`admin\` need the scope \`<service>:<access>\`; \`operator\` the operator; \`key\` any API key;
 * \`user\` a signed-in user; \`any\` any credential.
 */
export type Access = 'public' | 'read' | 'write' | 'admin' | 'operator' | 'key' | 'user' | 'any';

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  /** It may come several times: \`a=1&a=2\`. */
  readonly array?: true;
  /** Where its value carries moments. */
  readonly moments?: Moments;
}

/** Where a value has others of some kind: \`true\` where it is one, else by members, items and values of a map. */
export type Places =
  | true
  | {
      readonly members?: Readonly<Record<string, Places>>;
      readonly items?: Places;
      readonly values?: Places;
    };

/** Where a value carries moments. */
export type Moments = Places;

/** What a JSON body may carry and does not mean: of the value, of its members, of its items, of the values of a map. */
export interface Leeway {
  /** Members that are known by other spellings: the spelling without case and underscores → the name. */
  readonly folded?: Readonly<Record<string, string>>;
  /** Members that only the server sets: dropped. */
  readonly ignored?: readonly string[];
  /** Members that are \`null\` are as good as absent. */
  readonly nullIsAbsent?: true;
  /** Members for which \`null\` gives this default back. */
  readonly restores?: Readonly<Record<string, unknown>>;
  readonly members?: Readonly<Record<string, Leeway>>;
  readonly items?: Leeway;
  readonly values?: Leeway;
}

export interface Operation {
  readonly service: ServiceName;
  /** Interface and method: \`Roles_create\`. */
  readonly id: string;
  readonly resource: string;
  readonly method: string;
  readonly verb: Verb;
  /** Relative to the service's base URL, with \`{parameters}\`. */
  readonly path: string;
  /** Other paths that lead to it. */
  readonly aliases?: readonly string[];
  readonly access: Access;
  /** It is public, and a credential counts nevertheless. */
  readonly optionalCredentials?: true;
  /** Query parameters that it does not know are ignored. */
  readonly tolerant?: true;
  /** An \`Idempotency-Key\` makes it safe to repeat. */
  readonly repeatable?: true;
  /** The status of a failure of the database, where it is not 503, which means something else here. */
  readonly storeFailure?: 500;
  /** Its \`tenant_id\` names a tenant that is a resource of the service, not the tenant of the caller. */
  readonly ownTenants?: true;
  /** Apps are resources of the service, which judges every \`app_id\` itself. */
  readonly ownApps?: true;
  /** Seconds in which its body must arrive, and for which the body or an answer in pieces may make no progress. */
  readonly timeLimits?: { readonly body?: number; readonly silence?: number };
  /** The JSON of a success is sent as it is produced. */
  readonly streamed?: true;
  /** Headers of its requests that begin with a prefix: the handler gets them as a map, under the name of \`member\`. */
  readonly prefixedHeaders?: {
    readonly prefix: string;
    readonly member: string;
    readonly count: number;
    readonly bytes: number;
  };
  /** The prefix of headers that its responses may carry besides the documented ones. */
  readonly answeredPrefix?: string;
  readonly parameters: readonly Parameter[];
  readonly body: null | {
    readonly contentTypes: readonly string[];
    readonly required: boolean;
    /** Bytes. */
    readonly limit: number;
    readonly leeway: Leeway | null;
    readonly moments?: Moments;
    /** Where it carries texts that may be any string, even with U+0000 or lone surrogates. */
    readonly anyTexts?: Places;
  };
  readonly responses: readonly {
    readonly status: number;
    /** The usual one first; none for an answer without content. */
    readonly contentTypes: readonly string[];
    readonly headers: readonly string[];
  }[];
}
`;

export function operationsTable(contract: ServiceContract[]): string {
  const names = contract.map((service) => `'${service.name}'`).join(' | ');
  const services = contract.map(
    (service) =>
      `  ${service.name}: { title: ${JSON.stringify(service.title)}, document: '${service.document}' },`,
  );
  const entries = contract.flatMap((service) =>
    service.operations.map((operation) => `  ${JSON.stringify(entry(service, operation))},`),
  );
  return [
    header,
    `export type ServiceName = ${names};`,
    declarations,
    '/** The services of the contract; `document` is the file in tsp-output/openapi. */',
    'export const services: Readonly<Record<ServiceName, { readonly title: string; readonly document: string }>> = {',
    ...services,
    '};',
    '',
    'export const operations: readonly Operation[] = [',
    ...entries,
    '];',
    '',
  ].join('\n');
}

function parameterEntry({ name, in: place, required, schema, moments }: Parameter) {
  return {
    name,
    in: place,
    required,
    ...(schema.type === 'array' && { array: true }),
    ...(moments && { moments }),
  };
}

function entry({ name, ownTenants, ownApps }: ServiceContract, operation: Operation) {
  const {
    id,
    resource,
    method,
    verb,
    path,
    aliases,
    access,
    optionalCredentials,
    tolerant,
    repeatable,
    storeFailure,
    timeLimits,
    streamed,
    prefixedHeaders,
    answeredPrefix,
    body,
  } = operation;
  return {
    service: name,
    id,
    resource,
    method,
    verb,
    path,
    ...(aliases.length > 0 && { aliases }),
    access,
    ...(optionalCredentials && { optionalCredentials }),
    ...(tolerant && { tolerant }),
    ...(repeatable && { repeatable: true }),
    ...(storeFailure && { storeFailure }),
    ...(timeLimits && { timeLimits }),
    ...(streamed && { streamed: true }),
    ...(prefixedHeaders && { prefixedHeaders }),
    ...(answeredPrefix && { answeredPrefix }),
    ...(ownTenants && { ownTenants }),
    ...(ownApps && { ownApps }),
    parameters: operation.parameters.map(parameterEntry),
    body: body && {
      contentTypes: Object.keys(body.content),
      required: body.required,
      limit: body.limit,
      leeway: body.leeway,
      ...(body.moments && { moments: body.moments }),
      ...(body.anyTexts && { anyTexts: body.anyTexts }),
    },
    responses: operation.responses.map(({ status, content, headers }) => ({
      status,
      contentTypes: content.map(({ contentType }) => contentType),
      headers,
    })),
  };
}
