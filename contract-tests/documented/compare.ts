/** What the contract lacks compared with the documents, as sentences: `GET /v1/keys: no query parameter state`. */
import type { Document, DocumentOperation, MediaType, ParameterObject, Schema } from '../contract.ts';
import type { DocumentedOperation, DocumentedService } from './facts.ts';

export interface Comparison {
  readonly missing: readonly string[];
  /** Operations of the document that have another path in the contract. */
  readonly renamed: readonly string[];
}

/**
 * `pathOf` returns the contract's path for a path of the document when they differ on purpose, and `insteadOf` the member that may be
 * sent instead of one that the document requires.
 */
export function compare(
  facts: DocumentedService,
  document: Document,
  pathOf: (path: string) => string | undefined,
  insteadOf: (member: string) => string | undefined = () => undefined,
): Comparison {
  const missing: string[] = [];
  const renamed: string[] = [];
  for (const fact of facts.operations) {
    const name = `${fact.method} ${fact.path}`;
    const literal = find(document, fact.method, fact.path);
    const entry = literal ?? find(document, fact.method, pathOf(fact.path) ?? fact.path);
    if (!entry) {
      missing.push(`${name}: no such operation`);
      continue;
    }
    if (!literal) renamed.push(fact.path);
    const lacking = [
      ...lacks(document, entry, fact, insteadOf),
      ...codeLacks(document, [entry], fact.codes, facts.envelope),
    ];
    missing.push(...lacking.map((lack) => `${name}: no ${lack}`));
  }
  return { missing: [...missing, ...lacksOfErrors(facts, document)], renamed };
}

/** Finds an operation. A parameter that accepts slashes is written `{+key}` in the documents and has an extension in OpenAPI. */
function find(document: Document, method: string, path: string): DocumentOperation | undefined {
  const entry = document.paths[path.replace('{+', '{')]?.[method.toLowerCase()];
  const greedy = entry && parameters(document, entry).some((parameter) => 'x-greedy' in parameter);
  return path.includes('{+') && !greedy ? undefined : entry;
}

function lacks(
  document: Document,
  entry: DocumentOperation,
  fact: DocumentedOperation,
  insteadOf: (member: string) => string | undefined,
): string[] {
  const given = parameters(document, entry);
  const query = (name: string) => given.find((each) => each.in === 'query' && each.name === name);
  // Header names are case-insensitive.
  const header = (name: string) =>
    given.find((each) => each.in === 'header' && each.name.toLowerCase() === name.toLowerCase());
  const bodies = schemas(entry.requestBody?.content);
  const successes = answers([entry], /^2/).flat();
  const isRequired = (name: string) => query(name)?.required ?? expand(document, bodies).some(requires(name));
  const hasAlternative = (name: string) => {
    const instead = insteadOf(name);
    return instead !== undefined && has(document, bodies, name) && has(document, bodies, instead);
  };
  const isAnswered = (status: number) => String(status) in entry.responses;
  return [
    ...fact.query.filter((name) => !query(name)).map((name) => `query parameter ${name}`),
    ...fact.headers.filter((name) => !header(name)).map((name) => `header ${name}`),
    ...fact.request.filter((path) => !has(document, bodies, path)).map((path) => `request field ${path}`),
    ...fact.required
      .filter((name) => !isRequired(name) && !hasAlternative(name))
      .map((name) => `requirement of ${name}`),
    ...fact.response
      .filter((path) => !has(document, successes, path))
      .map((path) => `response field ${path}`),
    ...[...fact.success, ...fact.errors]
      .filter((status) => !isAnswered(status))
      .map((status) => `status ${status}`),
  ];
}

/** A status that the document gives for the whole service has to occur in some operation, with the documented envelope. */
function lacksOfErrors({ errors, codes, envelope }: DocumentedService, document: Document): string[] {
  const all = Object.values(document.paths).flatMap((item) => Object.values(item));
  const wrapped = (statuses: RegExp) =>
    answers(all, statuses).some((bodies) => envelope.every((path) => has(document, bodies, path)));
  const lacking = errors.filter((status) => !wrapped(new RegExp(`^${status}$`)));
  return [
    ...lacking.map((status) => `status ${status} with ${envelope.join(', ')}`),
    ...codeLacks(document, all, codes, envelope),
    ...(wrapped(/^[45]/) ? [] : [`error with ${envelope.join(', ')}`]),
  ].map((lack) => `any operation: no ${lack}`);
}

/** Returns the codes that no operation lists as a value of the envelope's `code` under their status. */
function codeLacks(
  document: Document,
  entries: readonly DocumentOperation[],
  codes: readonly string[],
  envelope: readonly string[],
): string[] {
  const path = envelope.find((name) => /(^|\.)code$/.test(name)) ?? 'code';
  const isValue = (code: string) => (schema: Schema) =>
    schema['const'] === code || (Array.isArray(schema['enum']) && schema['enum'].includes(code));
  return codes.filter((each) => {
    const [status = '', code = ''] = each.split(' ');
    const values = answers(entries, new RegExp(`^${status}$`)).flatMap((bodies) =>
      at(document, bodies, path),
    );
    return !expand(document, values).some(isValue(code));
  });
}

/** Returns the bodies of each answer with a matching status. */
const answers = (entries: readonly DocumentOperation[], statuses: RegExp): Schema[][] =>
  entries.flatMap(({ responses }) =>
    Object.entries(responses).flatMap(([status, { content }]) =>
      statuses.test(status) ? [schemas(content)] : [],
    ),
  );

function parameters(document: Document, entry: DocumentOperation): readonly ParameterObject[] {
  return (entry.parameters ?? []).map((parameter) => {
    if (parameter.$ref === undefined) return parameter;
    const found = document.components.parameters?.[parameter.$ref.replace('#/components/parameters/', '')];
    if (!found) throw new Error(`${parameter.$ref} is not in the document`);
    return found;
  });
}

const schemas = (content: Readonly<Record<string, MediaType>> = {}): Schema[] =>
  Object.values(content).flatMap(({ schema }) => (schema ? [schema] : []));

/** Returns the schemas of a member in values of any of the given schemas. Items of lists and values of maps count as the value itself. */
function at(document: Document, start: readonly Schema[], path: string): readonly Schema[] {
  let found = start;
  for (const name of path.split('.')) {
    found = expand(document, found).flatMap((schema) => {
      const properties = schema['properties'] as Readonly<Record<string, Schema>> | undefined;
      const member = properties && Object.hasOwn(properties, name) ? properties[name] : undefined;
      return member ? [member] : [];
    });
  }
  return found;
}

const has = (document: Document, start: readonly Schema[], path: string): boolean =>
  at(document, start, path).length > 0;

const within = [
  'allOf',
  'anyOf',
  'oneOf',
  'prefixItems',
  'items',
  'additionalProperties',
  'unevaluatedProperties',
];

/** Returns the schemas, with all schemas that describe the same value, its items or its values. */
function expand(document: Document, start: readonly Schema[]): Schema[] {
  const seen = new Set<Schema>();
  const visit = (schema: Schema) => {
    if (seen.has(schema)) return;
    seen.add(schema);
    const target =
      schema.$ref && document.components.schemas[schema.$ref.replace('#/components/schemas/', '')];
    if (target) visit(target);
    for (const part of within.flatMap((keyword) => schema[keyword] ?? [])) if (isSchema(part)) visit(part);
  };
  start.forEach(visit);
  return [...seen];
}

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null;

const requires =
  (name: string) =>
  ({ required }: Schema): boolean =>
    Array.isArray(required) && required.includes(name);
