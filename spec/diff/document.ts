/** An OpenAPI 3.1 document as the compiler writes it, and its operations with everything resolved that the comparison reads. */
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
  readonly 'x-greedy'?: boolean;
}

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
  };
  readonly security?: readonly Requirement[];
}

export interface Operation {
  /** `POST /v1/roles` */
  readonly name: string;
  readonly id: string;
  readonly verb: string;
  readonly path: string;
  /** Its path and the other spelling of it, if any, without the names of parameters: `GET /v1/roles/{}`. */
  readonly routes: readonly string[];
  readonly access: string;
  readonly security: readonly Requirement[];
  readonly limit: number;
  /** Path parameters are named by their position, because a client never sends their names. */
  readonly parameters: readonly (Parameter & { readonly key: string })[];
  readonly body: { readonly required: boolean; readonly content: Readonly<Record<string, Schema>> } | null;
  readonly answers: Readonly<Record<string, Answer>>;
  /** Typed events of a stream and messages of a socket. */
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

/** What a reference stands for, together with what is said beside it. */
export function resolve(schemas: Schemas, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const { $ref, ...beside } = schema;
  const found = schemas[refName($ref)];
  if (!found) throw new Error(`${$ref} is not in the document`);
  return { ...resolve(schemas, found), ...beside };
}

export function formsOf(schema: Schema): readonly Schema[] | undefined {
  const forms = schema.anyOf ?? schema.oneOf;
  const shared = Object.entries(schema).filter(([keyword]) => bounds.has(keyword));
  if (forms === undefined || shared.length === 0) return forms;
  const known = bounded.get(schema);
  if (known) return known;
  // What is said beside the forms holds for each of them.
  const made = forms.map((form) =>
    form.$ref === undefined ? { ...Object.fromEntries(shared), ...form } : form,
  );
  bounded.set(schema, made);
  return made;
}

/** Forms with what is said beside them, the same objects every time. */
const bounded = new WeakMap<Schema, readonly Schema[]>();

const bounds = new Set(
  'minItems maxItems uniqueItems minLength maxLength pattern format minimum maximum minProperties maxProperties'.split(
    ' ',
  ),
);

export const isSealed = ({ unevaluatedProperties: open }: Schema): boolean =>
  open !== undefined && 'not' in open && Object.keys(open['not'] as object).length === 0;

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
