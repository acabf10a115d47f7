/** Returns one small valid value of a schema, from its examples where possible. */
import { isJson, writeContent } from './content.ts';
import { formsOf, isObject, type Schema } from './document.ts';
import { joined } from './flat.ts';
import type { Judge } from './judge.ts';
import { meaning } from './meaning.ts';
import { itemOf, memberOf } from './members.ts';
import { typesOf } from './reasons.ts';
import { texts } from './texts.ts';

/** Uses required members only. At the maximum depth of recursion it takes the last form, which is usually `null`. */
export function sample(judge: Judge, reference: Schema, depth = 0): unknown {
  const text = meaning(reference);
  if (judge.samples.has(text)) return judge.samples.get(text);
  const value = find(judge, reference, depth);
  if (depth < 6) judge.samples.set(text, value);
  return value;
}

function find(judge: Judge, reference: Schema, depth: number): unknown {
  const schema = judge.resolve(reference);
  const made = depth > 12 ? null : make(judge, schema, depth);
  if (made !== undefined && judge.accepts(reference, made)) return made;
  const others = () => [
    ...(schema.examples ?? []),
    ...(depth > 6 ? [] : repaired(judge, schema, made, depth)),
  ];
  const known = others().find((value) => judge.accepts(reference, value));
  return known === undefined ? made : known;
}

/** Values of every type, for a schema that names none. */
export const anything: readonly unknown[] = [
  null,
  true,
  0,
  0.5,
  -1,
  '',
  'text',
  [],
  ['text'],
  {},
  { member: 'text' },
];

/** Returns values for schemas whose conditions, negations or parts demand more than their other keywords. */
function repaired(judge: Judge, schema: Schema, made: unknown, depth: number): unknown[] {
  const conditions = conditionsOf(schema);
  if (conditions.length === 0 && !('not' in schema) && !schema.allOf) return [];
  const met = conditions.flatMap((condition) => {
    const value = sample(
      judge,
      joined(judge.resolve, withoutConditions(schema), condition) ?? condition,
      depth + 1,
    );
    return isObject(made) && isObject(value) ? [value, { ...made, ...value }] : [value];
  });
  return [...met, ...anything, ...texts(schema, schema).slice(0, 100)];
}

/** Returns the further schemas that a value may have to match. */
export const conditionsOf = (schema: Schema): Schema[] =>
  [
    ...(schema.allOf ?? []),
    schema.if,
    schema.then,
    schema.else,
    ...Object.values(schema.dependentSchemas ?? {}),
  ].filter((part) => part !== undefined);

export function withoutConditions(schema: Schema): Schema {
  const { allOf: _a, if: _i, then: _t, else: _e, dependentSchemas: _d, not: _n, ...rest } = schema;
  return rest;
}

function make(judge: Judge, schema: Schema, depth: number): unknown {
  if ('const' in schema) return schema.const;
  if (schema.enum) return schema.enum[0];
  const forms = formsOf(schema);
  if (forms) return sample(judge, forms.at(depth > 6 ? -1 : 0) ?? {}, depth + 1);
  const type = typesOf(schema)?.[0];
  if (type === 'object' || (type === undefined && (schema.properties ?? schema.required)))
    return smallest(judge, schema, depth);
  const [example] = schema.examples ?? [];
  if (type === 'array') return shortest(judge, schema, depth);
  if (example !== undefined) return example;
  switch (type) {
    case 'string':
      if (isJson(schema.contentMediaType)) {
        return writeContent(schema, sample(judge, schema.contentSchema ?? {}, depth + 1));
      }
      return texts(schema, {}).find((text) => judge.accepts(schema, text)) ?? 'text';
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? Math.min(1, schema.maximum ?? 1), (schema.exclusiveMinimum ?? 0) + 1);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return 'anything';
  }
}

function shortest(judge: Judge, schema: Schema, depth: number): unknown[] {
  const { contains, minContains = 1, minItems = 0, prefixItems = [] } = schema;
  const first = contains && minContains > 0 ? prefixItems.length : 0;
  const wanted = contains ? minContains : 0;
  const length = Math.max(minItems, wanted > 0 ? first + wanted : 0);
  return Array.from({ length: Math.min(length, mostItems) }, (_, at) => {
    const own = itemOf(schema, at);
    const isWanted = contains && at >= first && at < first + wanted;
    return sample(judge, isWanted ? (joined(judge.resolve, contains, own) ?? contains) : own, depth + 1);
  });
}

export const mostItems = 100_000;

/** Returns the required names of an object, and the names that these require in turn. */
function requiredOf({ required = [], dependentRequired = {} }: Schema): Set<string> {
  const names = new Set(required);
  for (const name of names) {
    for (const more of Object.hasOwn(dependentRequired, name) ? (dependentRequired[name] ?? []) : [])
      names.add(more);
  }
  return names;
}

function smallest(judge: Judge, schema: Schema, depth: number): Record<string, unknown> {
  const required = [...requiredOf(schema)].map((name) => [name, memberOf(schema, name)] as const);
  const members = Object.fromEntries(required.map(([name, part]) => [name, sample(judge, part, depth + 1)]));
  const missing = Math.max(0, (schema.minProperties ?? 0) - required.length);
  const free = Array.from({ length: missing }, (_, at) => [
    `member${at}`,
    sample(judge, memberOf(schema, `member${at}`), depth + 1),
  ]);
  return { ...members, ...(Object.fromEntries(free) as Record<string, unknown>) };
}
