/** An OpenAPI 3.1 document as compiled, and its operations with everything resolved that the comparison reads. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly unevaluatedProperties?: Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly contains?: Schema;
  readonly minContains?: number;
  readonly maxContains?: number;
  readonly multipleOf?: number;
  readonly prefixItems?: readonly Schema[];
  readonly unevaluatedItems?: Schema;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly propertyNames?: Schema;
  readonly dependentRequired?: Readonly<Record<string, readonly string[]>>;
  readonly dependentSchemas?: Readonly<Record<string, Schema>>;
  readonly if?: Schema;
  readonly then?: Schema;
  readonly else?: Schema;
  readonly not?: Schema;
  readonly contentMediaType?: string;
  readonly contentEncoding?: string;
  readonly contentSchema?: Schema;
  readonly 'x-ignored'?: readonly string[];
  readonly [keyword: string]: unknown;
}
export type Schemas = Readonly<Record<string, Schema>>;

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
  readonly style?: string;
  readonly explode?: boolean;
  readonly allowReserved?: boolean;
  readonly 'x-greedy'?: boolean;
}

export type Scheme = Readonly<Record<string, unknown>>;

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;
export type Requirement = Readonly<Record<string, readonly string[]>>;

export interface Answer {
  readonly headers?: Readonly<Record<string, { readonly required?: boolean; readonly schema: Schema }>>;
  readonly content?: Content;
}

interface OperationObject {
  readonly operationId?: string;
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Answer>>;
  readonly security?: readonly Requirement[];
  readonly 'x-access'?: string;
  readonly 'x-body-limit'?: number;
  readonly 'x-events'?: Readonly<Record<string, Schema>>;
  readonly 'x-messages'?: Readonly<Record<string, Schema>>;
  readonly 'x-alias'?: string;
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components?: {
    readonly schemas?: Schemas;
    readonly parameters?: Readonly<Record<string, Parameter>>;
    readonly securitySchemes?: Readonly<Record<string, Scheme>>;
  };
  readonly security?: readonly Requirement[];
  readonly webhooks?: Readonly<Record<string, unknown>>;
}

/** Annotations: no request or answer can be invalid because of them. */
export const annotations: ReadonlySet<string> = new Set(
  'description summary title examples example tags externalDocs deprecated $comment'.split(' '),
);

export interface Operation {
  /** For example `POST /v1/roles`. */
  readonly name: string;
  readonly id: string;
  readonly verb: string;
  readonly path: string;
  /** Its path and its alias, if any, without parameter names: `GET /v1/roles/{}`. */
  readonly routes: readonly string[];
  readonly access: string;
  readonly security: readonly Requirement[];
  /** The definitions of the credentials that it accepts, by name. */
  readonly schemes: Readonly<Record<string, Scheme>>;
  /** The remaining members of the operation in the document, which no other member here covers. */
  readonly others: Readonly<Record<string, unknown>>;
  readonly limit: number;
  /** Path parameters are named by position, because a client never sends their names. */
  readonly parameters: readonly (Parameter & { readonly key: string })[];
  readonly body: { readonly required: boolean; readonly content: Readonly<Record<string, Schema>> } | null;
  readonly answers: Readonly<Record<string, Answer>>;
  /** Typed events of a stream, and messages of a socket. */
  readonly events: Readonly<Record<string, Schema>>;
}

const JSON_BODY_LIMIT = 1024 * 1024;

export const operationsOf = (document: Document): Operation[] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([verb, operation]) => read(document, path, verb.toUpperCase(), operation)),
  );

function read(document: Document, path: string, verb: string, operation: OperationObject): Operation {
  const parameters = (operation.parameters ?? []).map((parameter) => parameterOf(document, parameter));
  const greedy = new Set(parameters.filter((one) => one['x-greedy']).map(({ name }) => name));
  const names = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name);
  const spellings = operation['x-alias'] === undefined ? [path] : [path, operation['x-alias']];
  return {
    name: `${verb} ${path}`,
    id: operation.operationId ?? '',
    verb,
    path,
    routes: spellings.map((spelling) => `${verb} ${shapeOf(spelling, greedy)}`),
    access: operation['x-access'] ?? (verb === 'GET' || verb === 'HEAD' ? 'read' : 'write'),
    security: operation.security ?? document.security ?? [],
    schemes: document.components?.securitySchemes ?? {},
    others: othersOf(operation),
    limit: operation['x-body-limit'] ?? JSON_BODY_LIMIT,
    parameters: parameters.map((parameter) => ({ ...parameter, key: keyOf(parameter, names) })),
    body: operation.requestBody
      ? {
          required: operation.requestBody.required ?? false,
          content: schemasOf(operation.requestBody.content),
        }
      : null,
    answers: operation.responses,
    events: { ...operation['x-events'], ...operation['x-messages'] },
  };
}

const known = new Set(
  (
    'operationId parameters requestBody responses security x-access x-body-limit x-events x-messages x-alias ' +
    'tags summary description externalDocs deprecated'
  ).split(' '),
);

/** Returns the remaining members of an operation, with everything about its body apart from the schemas. */
function othersOf(operation: OperationObject): Record<string, unknown> {
  const rest = Object.entries(operation).filter(([name, value]) => !known.has(name) && value !== undefined);
  const media = mediaOf(operation.requestBody?.content);
  return { ...Object.fromEntries(rest), ...(media && { 'content of the body': media }) };
}

/** Returns everything that a content says about its types apart from the schemas. */
export function mediaOf(content: Content | undefined): Readonly<Record<string, unknown>> | undefined {
  const said = Object.entries(content ?? {}).flatMap(([type, { schema: _, ...media }]) => {
    const more = Object.entries(media).filter(([keyword]) => !annotations.has(keyword));
    return more.length > 0 ? [[type, Object.fromEntries(more)] as const] : [];
  });
  return said.length > 0 ? Object.fromEntries(said) : undefined;
}

const shapeOf = (path: string, greedy: ReadonlySet<string>): string =>
  path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => (greedy.has(name) ? '{+}' : '{}'));

const keyOf = ({ name, in: where }: Parameter, names: readonly string[]): string =>
  where === 'path'
    ? `path ${names.indexOf(name)}`
    : `${where} ${where === 'header' ? name.toLowerCase() : name}`;

export const schemasOf = (content: Content | undefined): Record<string, Schema> =>
  Object.fromEntries(Object.entries(content ?? {}).map(([type, { schema }]) => [type, schema ?? {}]));

function parameterOf(document: Document, parameter: Parameter | { readonly $ref: string }): Parameter {
  if (!('$ref' in parameter)) return parameter;
  const name = parameter.$ref.replace('#/components/parameters/', '');
  const found = document.components?.parameters?.[name];
  if (!found) throw new Error(`${parameter.$ref} is not in the document`);
  return found;
}

export const refName = (ref: string): string => ref.replace('#/components/schemas/', '');

/** Returns the schema to which a reference points. Keywords beside the reference that are more than descriptions apply too. */
export function resolve(schemas: Schemas, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const { $ref, ...beside } = schema;
  const found = schemas[refName($ref)];
  if (!found) throw new Error(`${$ref} is not in the document`);
  if (Object.keys(beside).every((keyword) => mild.has(keyword) || keyword.startsWith('x-'))) {
    return { ...resolve(schemas, found), ...beside };
  }
  return { ...beside, allOf: [{ $ref }, ...(beside.allOf ?? [])] };
}

/** Keywords that do not affect which values are valid. */
const mild = new Set(
  'description summary title examples example default deprecated $comment readOnly writeOnly externalDocs'.split(
    ' ',
  ),
);

export const formsOf = (schema: Schema): readonly Schema[] | undefined => schema.anyOf ?? schema.oneOf;

/** Whether a schema allows no value: it has the form that stands for `false` here. */
export const isNothing = ({ not }: Schema): boolean => not !== undefined && Object.keys(not).length === 0;

export const nothing: Schema = { not: {} };

export const isSealed = ({ unevaluatedProperties: open }: Schema): boolean =>
  open !== undefined && isNothing(open);

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
