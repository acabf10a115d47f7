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
  /** Whether the parameter may be repeated: \`a=1&a=2\`. */
  readonly array?: true;
  /** Where the parameter's value contains moments. */
  readonly moments?: Moments;
}

/** Where a value contains others of some kind: \`true\` if the value is one, otherwise by its members, its items and the values of a map. */
export type Places =
  | true
  | {
      readonly members?: Readonly<Record<string, Places>>;
      readonly items?: Places;
      readonly values?: Places;
    };

/** Where a value contains moments. */
export type Moments = Places;

/** Members that a JSON body may have but that have no effect: in the value, its members, its items and the values of a map. */
export interface Leeway {
  /** Members that are known by other spellings: the spelling without case and underscores → the name. */
  readonly folded?: Readonly<Record<string, string>>;
  /** Members that only the server sets. They are dropped. */
  readonly ignored?: readonly string[];
  /** Whether the value becomes something new, which is refused with such members. */
  readonly refused?: true;
  /** Those among them that must have the values of what the request changes, which can be read at the same path. */
  readonly fixed?: readonly string[];
  /** Whether members that are \`null\` count as absent. */
  readonly nullIsAbsent?: true;
  /** Members that \`null\` resets to this default. */
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
  /** Further paths of the operation. */
  readonly aliases?: readonly string[];
  readonly access: Access;
  /** The operation is public, but a credential makes a difference. */
  readonly optionalCredentials?: true;
  /** Unknown query parameters are ignored. */
  readonly tolerant?: true;
  /** An \`Idempotency-Key\` makes the operation safe to repeat. */
  readonly repeatable?: true;
  /** The status of a failure of the database, where 503 means something else. */
  readonly storeFailure?: 500;
  /** The \`tenant_id\` of a request names a tenant that is a resource of the service, not the tenant of the caller. */
  readonly ownTenants?: true;
  /** Apps are resources of the service, which checks every \`app_id\` itself. */
  readonly ownApps?: true;
  /** Seconds in which the body must arrive, and seconds for which the body or an answer in pieces may make no progress. */
  readonly timeLimits?: { readonly body?: number; readonly silence?: number };
  /** The JSON of a successful answer is sent as it is produced. */
  readonly streamed?: true;
  /** Request headers that begin with a prefix. The handler receives them as a map, under the name in \`member\`. */
  readonly prefixedHeaders?: {
    readonly prefix: string;
    readonly member: string;
    readonly count: number;
    readonly bytes: number;
  };
  /** The prefix of headers that responses may have in addition to the documented ones. */
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
    /** Where it carries numbers that must be written with so few digits that none is lost. */
    readonly exactNumbers?: Places;
  };
  readonly responses: readonly {
    readonly status: number;
    /** The content types, the usual one first; none for an answer without content. */
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
      ...(body.exactNumbers && { exactNumbers: body.exactNumbers }),
    },
    responses: operation.responses.map(({ status, content, headers }) => ({
      status,
      contentTypes: content.map(({ contentType }) => contentType),
      headers,
    })),
  };
}
