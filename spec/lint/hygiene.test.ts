import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { services } from '../../generated/operations.ts';
import {
  parseService,
  resolve,
  type Operation,
  type Schema,
  type ServiceContract,
} from '../codegen/contract.ts';

/** Checks that neither Redocly nor the TypeSpec rules cover: those look at one declaration, not at its form on the wire. */
const contracts = Object.values(services).map(({ document }) => {
  const file = new URL(`../../tsp-output/openapi/${document}.json`, import.meta.url);
  return parseService(document, readFileSync(file, 'utf8'));
});

interface RawOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
}
const rawOperations = ({ openapi }: ServiceContract) =>
  Object.values(openapi['paths'] as Record<string, Record<string, RawOperation>>).flatMap((item) =>
    Object.values(item),
  );

/** Whether a schema is binary: bytes have no example in JSON. */
const isBinary = (schema: Schema) => schema.type === undefined && 'contentMediaType' in schema;

/** Whether a mock has something to answer: an example, the only possible value, or parts that have one. */
function hasExample(service: ServiceContract, schema: Schema): boolean {
  const { examples, items, anyOf, oneOf, type, ...target } = resolve(service.schemas, schema);
  if (examples?.length || target.enum || target.const !== undefined || type === 'boolean') return true;
  if (type === 'array') return items !== undefined && hasExample(service, items);
  return (anyOf ?? oneOf ?? []).some((variant) => hasExample(service, variant));
}

const failures = ({ responses }: Operation) => responses.filter(({ status }) => status >= 400);

/** Returns every value in an example, at any depth. */
function values(example: unknown): unknown[] {
  return typeof example === 'object' && example !== null ? Object.values(example).flatMap(values) : [example];
}

const codeEnum = ({ schemas }: ServiceContract) => (schemas['ErrorCode']?.enum ?? []) as string[];

function unbounded(schema: Schema & Bounds, at: string): string[] {
  const types = [schema.type].flat();
  const missing = [
    types.includes('string') && isEndless(schema) && 'maxLength',
    (types.includes('integer') || types.includes('number')) && !hasRange(schema) && 'a range',
    types.includes('array') && schema.maxItems === undefined && 'maxItems',
  ].filter(Boolean);
  return [
    ...missing.map((bound) => `${at} has no ${String(bound)}`),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, member]) =>
      unbounded(member, `${at}.${name}`),
    ),
    ...(schema.items ? unbounded(schema.items, `${at}[]`) : []),
    ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((variant) =>
      unbounded({ ...boundsOf(schema), ...variant }, at),
    ),
    ...(schema.unevaluatedProperties ? unbounded(schema.unevaluatedProperties, `${at}.*`) : []),
  ];
}

/** The bounds of `T | null` are beside its variants. */
const boundsOf = ({
  type: _,
  anyOf: _any,
  oneOf: _one,
  properties: _members,
  items: _items,
  ...bounds
}: Schema) => bounds;

/** A customer's data is exported whole, as one document that is written while it is read. */
const endless = /^CustomerExport\.(subscriptions|invoices|payments|usage_events) has no maxItems$/;

interface Bounds {
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly maxItems?: number;
  readonly contentSchema?: Schema;
}

/**
 * Whether a text has no bound. A stream has no length; every other text is bounded by a number, a list of values, a format or a
 * pattern.
 */
const isEndless = (schema: Schema & Bounds) =>
  [schema.maxLength, schema.enum, schema.const, schema.format, schema.pattern, schema.contentSchema].every(
    (bound) => bound === undefined,
  );

const hasRange = (schema: Schema & Bounds) =>
  schema.enum !== undefined ||
  schema.const !== undefined ||
  ((schema.minimum ?? schema.exclusiveMinimum) !== undefined &&
    (schema.maximum ?? schema.exclusiveMaximum) !== undefined);

describe.each(contracts.map((service) => ({ name: service.name, service })))(
  'the contract of $name',
  ({ service }) => {
    it('has an example for every answer', () => {
      const without = service.operations.flatMap(({ id, responses }) =>
        responses
          .filter(({ content }) =>
            content.some(({ schema }) => !isBinary(schema) && !hasExample(service, schema)),
          )
          .map(({ status }) => `${id} ${status}`),
      );
      expect(without).toEqual([]);
    });

    it('shows every error code in the answer of an operation that gives it', () => {
      const shown = new Set(
        service.operations
          .flatMap(failures)
          .flatMap(({ content }) =>
            content.flatMap(({ schema }) => values(resolve(service.schemas, schema).examples)),
          ),
      );
      expect(codeEnum(service).filter((code) => !shown.has(code))).toEqual([]);
    });

    it('bounds every text, number and array', () => {
      const found = [
        ...Object.entries(service.schemas).flatMap(([name, schema]) => unbounded(schema, name)),
        ...service.operations.flatMap(({ id, parameters }) =>
          parameters.flatMap(({ name, schema }) => unbounded(schema, `${id}(${name})`)),
        ),
      ];
      expect(found.filter((line) => !endless.test(line))).toEqual([]);
    });

    it('titles every operation in at most 80 characters, no two alike', () => {
      const titles = rawOperations(service).map(({ summary }) => summary);
      expect(titles.filter((title) => title.length > 80)).toEqual([]);
      expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
    });

    it('has no tag without operations', () => {
      const used = new Set(rawOperations(service).flatMap(({ tags }) => tags));
      const tags = service.openapi['tags'] as { name: string }[];
      expect(tags.map(({ name }) => name).filter((name) => !used.has(name))).toEqual([]);
    });
  },
);
