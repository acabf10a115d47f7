/** Generated inputs: values that a schema allows, and the same values with one error. */
import fc from 'fast-check';
import type { ServiceName } from '../generated/operations.ts';
import { resolve, type Schema } from './contract.ts';

/** Generates values that the schema allows, often its examples and bounds. Recursion ends at `depth`. */
export function valid(service: ServiceName, reference: Schema, depth = 4): fc.Arbitrary<unknown> {
  const schema = resolve(service, reference);
  const known = [
    ...((schema.examples ?? []) as unknown[]),
    ...('default' in schema ? [schema['default']] : []),
  ];
  const made = fromKeywords(service, schema, depth);
  return known.length === 0
    ? made
    : fc.oneof({ weight: 1, arbitrary: fc.constantFrom(...known) }, { weight: 2, arbitrary: made });
}

function fromKeywords(service: ServiceName, schema: Schema, depth: number): fc.Arbitrary<unknown> {
  const forms = (schema['anyOf'] ?? schema['oneOf']) as Schema[] | undefined;
  if (forms) return fc.oneof(...forms.map((form) => valid(service, form, depth)));
  if ('const' in schema) return fc.constant(schema['const']);
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]));
  const type = Array.isArray(schema.type) ? (schema.type[0] as string) : (schema.type as string | undefined);
  switch (type) {
    case 'string':
      return text(schema);
    case 'integer':
      return number(schema, (min, max) =>
        fc.integer({ min: Math.max(min, -(2 ** 31)), max: Math.min(max, 2 ** 31) }),
      );
    case 'number':
      return number(schema, (min, max) => fc.double({ min, max, noNaN: true }));
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return list(service, schema, depth);
    case 'object':
      return record(service, schema, depth);
    default:
      return json;
  }
}

/** Values for places where the contract sets no rule. The keys include names that exist on prototypes. */
const json = fc.jsonValue({ maxDepth: 3, depthSize: 'small' });
const openKeys = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length', 'then', ''),
);

const bound = (schema: Schema, keyword: string, otherwise: number): number => {
  const value = schema[keyword];
  return typeof value === 'number' ? value : otherwise;
};

function number(
  schema: Schema,
  between: (min: number, max: number) => fc.Arbitrary<number>,
): fc.Arbitrary<number> {
  const min = bound(schema, 'minimum', -1e9);
  const max = bound(schema, 'maximum', 1e9);
  return fc.oneof(between(min, max), fc.constantFrom(min, max));
}

function text(schema: Schema): fc.Arbitrary<string> {
  const minLength = bound(schema, 'minLength', 0);
  const maxLength = bound(schema, 'maxLength', 2_000);
  if (schema['format'] === 'date-time') return moments;
  const plain = fc.oneof(
    fc.string({ minLength, maxLength: Math.min(maxLength, minLength + 24) }),
    fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, minLength + 8) }),
    fc.constant('a'.repeat(maxLength)),
    fc.constant('a'.repeat(minLength)),
  );
  const pattern = schema['pattern'];
  const fits = (value: string) =>
    [...value].length >= minLength &&
    [...value].length <= maxLength &&
    (typeof pattern !== 'string' || new RegExp(pattern, 'u').test(value));
  return (typeof pattern === 'string' ? (matching(pattern) ?? plain) : plain).filter(fits);
}

const moments = fc
  .date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());

/** fast-check cannot generate texts for look-arounds. */
function matching(pattern: string): fc.Arbitrary<string> | undefined {
  return /\(\?[!=<]/.test(pattern) ? undefined : fc.stringMatching(new RegExp(pattern, 'u'));
}

function list(service: ServiceName, schema: Schema, depth: number): fc.Arbitrary<unknown[]> {
  const minLength = bound(schema, 'minItems', 0);
  const maxLength = Math.min(bound(schema, 'maxItems', 5), minLength + (depth > 0 ? 3 : 0));
  return fc.array(valid(service, schema['items'] as Schema, depth - 1), { minLength, maxLength });
}

function record(service: ServiceName, schema: Schema, depth: number): fc.Arbitrary<unknown> {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
  const required = (schema['required'] ?? []) as string[];
  const open = schema['unevaluatedProperties'];
  if (properties.length === 0 && open !== undefined) {
    const values = JSON.stringify(open) === '{}' ? json : valid(service, open as Schema, depth - 1);
    const maxKeys = Math.min(bound(schema, 'maxProperties', 4), depth > 0 ? 4 : 0);
    return fc.array(fc.tuple(openKeys, values), { maxLength: maxKeys }).map(Object.fromEntries);
  }
  const chosen = properties.filter(([name]) => depth > 0 || required.includes(name));
  const model = Object.fromEntries(
    chosen.map(([name, property]) => [name, valid(service, property, depth - 1)]),
  );
  return fc.record(model, { requiredKeys: required.filter((name) => name in model) });
}

/** Takes a valid value and breaks it in one place, or leaves it unchanged when nothing can be inserted. */
export function broken(service: ServiceName, schema: Schema): fc.Arbitrary<unknown> {
  const edges = edgesOf(service, schema);
  return fc
    .tuple(
      valid(service, schema),
      fc.nat(),
      fc.constantFrom(...hostile, ...edges),
      fc.constantFrom('replace', 'add', 'remove'),
    )
    .map(([value, at, poison, how]) => {
      const places = placesOf(value);
      return change(value, places[at % places.length] ?? [], poison, how);
    });
}

const deep = (levels: number): unknown => (levels === 0 ? 0 : [deep(levels - 1)]);

/** Values that clients send by mistake or on purpose: wrong types, extreme numbers, texts on which databases fail. */
export const hostile: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  -0,
  2 ** 53,
  '',
  ' ',
  'x',
  '0',
  '\0',
  'a\0b',
  '\ud800',
  '\udfff-',
  '\u202e',
  '😀'.repeat(70),
  'x'.repeat(100_000),
  '%00',
  "'; drop table x; --",
  '../../etc/passwd',
  '__proto__',
  'constructor',
  '2026-02-30T25:61:00Z',
  'wrong_01m7w4n5e0f7drekxj50y51wjg',
  'role_81m7w4n5e0f7drekxj50y51wjg',
  'role_01m7w4n5e0f7drekxj50y51wji',
  [],
  [[]],
  ['x'],
  {},
  Object.fromEntries([['__proto__', { polluted: true }]]),
  { constructor: { prototype: {} } },
  deep(70),
  Array.from({ length: 1_001 }, () => 'x'),
];

/** Returns values one above and one below every bound of a schema and of the schemas within it. */
function edgesOf(service: ServiceName, schema: Schema, seen = new Set<Schema>()): unknown[] {
  const found = resolve(service, schema);
  if (seen.has(found)) return [];
  seen.add(found);
  const edges: unknown[] = [];
  for (const [keyword, value] of Object.entries(found)) {
    if (typeof value === 'number' && /^(minimum|maximum)$/.test(keyword)) edges.push(value - 1, value + 1);
    if (typeof value === 'number' && /^(min|max)Length$/.test(keyword))
      edges.push('a'.repeat(value + 1), 'a'.repeat(Math.max(0, value - 1)));
    if (
      keyword === 'properties' ||
      keyword === 'items' ||
      keyword === 'anyOf' ||
      keyword === 'unevaluatedProperties'
    ) {
      const parts =
        keyword === 'items' || keyword === 'unevaluatedProperties' ? [value] : Object.values(value as object);
      for (const part of parts) edges.push(...edgesOf(service, part as Schema, seen));
    }
  }
  return edges;
}

type Place = readonly (string | number)[];

/** Returns the path of every place in a value. The first is the value itself. */
function placesOf(value: unknown, path: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, part]) => placesOf(part, [...path, name]))];
}

function change(value: unknown, [step, ...rest]: Place, poison: unknown, how: string): unknown {
  if (step === undefined)
    return how === 'add' && isObject(value) ? withMember(value, 'bogus', poison) : poison;
  if (Array.isArray(value))
    return value.map((part, at) =>
      String(at) === String(step) ? change(part, rest, poison, how) : (part as unknown),
    );
  if (!isObject(value)) return value;
  const part = value[String(step)];
  if (rest.length === 0 && how === 'remove') {
    return Object.fromEntries(Object.entries(value).filter(([name]) => name !== String(step)));
  }
  return withMember(value, String(step), change(part, rest, poison, how));
}

const withMember = (value: object, name: string, member: unknown): unknown =>
  Object.fromEntries([...Object.entries(value), [name, member]]);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
