/**
 * A schema in the form that the search and the rules read: `allOf` is merged into one schema, and keywords beside alternatives
 * are merged into each alternative. Parts that cannot be merged stay unchanged.
 */
import { annotations, formsOf, nothing, type Schema } from './document.ts';
import { alike, meaning } from './meaning.ts';
import { same } from './values.ts';

export type Resolve = (schema: Schema) => Schema;

/** Keywords that apply schemas to the same value, so that the unevaluated members depend on them. */
export const composing = 'allOf anyOf oneOf if dependentSchemas $dynamicRef'.split(' ');

export const isComposed = (schema: Schema): boolean => composing.some((keyword) => keyword in schema);

export function flat(resolve: Resolve, schema: Schema): Schema {
  return spread(resolve, schema.allOf ? parts(resolve, schema, schema.allOf) : schema);
}

function parts(resolve: Resolve, schema: Schema, allOf: readonly Schema[]): Schema {
  const { allOf: _, unevaluatedProperties, unevaluatedItems, ...rest } = schema;
  let made: Schema | undefined = rest;
  for (const part of allOf) made = made && joined(resolve, made, part);
  const isInner = made && ('unevaluatedProperties' in made || 'unevaluatedItems' in made);
  const isOuter = unevaluatedProperties !== undefined || unevaluatedItems !== undefined;
  if (!made || (isInner && isOuter)) return schema;
  return {
    ...made,
    ...(unevaluatedProperties && !('additionalProperties' in made) && { unevaluatedProperties }),
    ...(unevaluatedItems && !('items' in made) && { unevaluatedItems }),
  };
}

const isSilent = (keyword: string): boolean =>
  annotations.has(keyword) || keyword === 'default' || keyword.startsWith('x-');

/** Merges the keywords beside alternatives into each of them. */
function spread(resolve: Resolve, schema: Schema): Schema {
  const forms = formsOf(schema);
  const kind = schema.anyOf ? 'anyOf' : 'oneOf';
  const said = Object.entries(schema).filter(([keyword]) => keyword !== kind && !isSilent(keyword));
  const rest = Object.fromEntries(said) as Schema;
  if (!forms || said.length === 0 || 'oneOf' in rest || 'unevaluatedProperties' in rest) return schema;
  if ('unevaluatedItems' in rest) return schema;
  const made = forms.map((form) => joined(resolve, rest, form) ?? { allOf: [rest, form] });
  const silent = Object.entries(schema).filter(([keyword]) => isSilent(keyword));
  return { ...(Object.fromEntries(silent) as Schema), [kind]: made };
}

const deepest = 6;

/** Returns a schema for the values that are valid under both schemas, or undefined when one schema cannot express that. */
export function joined(resolve: Resolve, first: Schema, second: Schema, depth = 0): Schema | undefined {
  if (meaning(first) === meaning(second)) return first;
  if (Object.keys(second).every(isSilent)) return { ...second, ...first };
  if (depth > deepest) return undefined;
  const [one, other] = [resolve(first), resolve(second)];
  const join: Join = (a, b) => joined(resolve, a, b, depth + 1);
  const made: Record<string, unknown> = { ...other, ...one };
  for (const keywords of groups) {
    const [has, had] = [one, other].map((schema) => keywords.some((keyword) => keyword in schema));
    if (!has || !had || keywords.every((keyword) => alike(keyword, one, other))) continue;
    const together = ofGroup(join, keywords[0] ?? '', one, other);
    if (!together || together === nothing) return together;
    for (const keyword of keywords) Reflect.deleteProperty(made, keyword);
    Object.assign(made, together);
  }
  const unknown = Object.keys(one).filter(
    (keyword) => keyword in other && !grouped.has(keyword) && !isSilent(keyword),
  );
  return unknown.every((keyword) => same(one[keyword], other[keyword]))
    ? closed(one, other, made)
    : undefined;
}

/** The members unevaluated beside one part are not those unevaluated beside both. */
function closed(one: Schema, other: Schema, made: Schema): Schema | undefined {
  if ('unevaluatedItems' in made) return undefined;
  if (!('unevaluatedProperties' in made) || !isComposed(made)) return made;
  const { unevaluatedProperties, ...rest } = made;
  const isPlain = [one, other].every((part) => !('unevaluatedProperties' in part && isComposed(part)));
  return isPlain ? { ...rest, additionalProperties: unevaluatedProperties } : undefined;
}

type Join = (one: Schema, other: Schema) => Schema | undefined;

/** Keywords that have a meaning only together. */
const groups: readonly (readonly string[])[] = [
  ['properties', 'patternProperties', 'unevaluatedProperties', 'additionalProperties'],
  ['items', 'prefixItems', 'unevaluatedItems'],
  ['if', 'then', 'else'],
  ['contains', 'minContains', 'maxContains'],
  ['anyOf', 'oneOf'],
  ...(
    'allOf type enum const required minimum exclusiveMinimum minLength minItems minProperties maximum exclusiveMaximum ' +
    'maxLength maxItems maxProperties uniqueItems propertyNames dependentRequired not pattern format multipleOf ' +
    'dependentSchemas contentMediaType contentEncoding contentSchema'
  )
    .split(' ')
    .map((keyword) => [keyword]),
];
const grouped = new Set(groups.flat());

function ofGroup(join: Join, keyword: string, one: Schema, other: Schema): Schema | undefined {
  const [was, is] = [one[keyword], other[keyword]];
  if (/^(exclusiveM|m)ax/.test(keyword)) return { [keyword]: Math.min(was as number, is as number) };
  if (/^(exclusiveM|m)in/.test(keyword)) return { [keyword]: Math.max(was as number, is as number) };
  switch (keyword) {
    case 'properties':
      return members(join, one, other);
    case 'items':
      return items(join, one, other);
    case 'allOf':
      return { allOf: [...(one.allOf ?? []), ...(other.allOf ?? [])] };
    case 'required':
      return { required: [...new Set([...(one.required ?? []), ...(other.required ?? [])])] };
    case 'type':
      return types(one, other);
    case 'enum': {
      const values = one.enum?.filter((value) => other.enum?.some((it) => same(it, value))) ?? [];
      return values.length > 0 ? { enum: values } : nothing;
    }
    case 'not':
      return { not: { anyOf: [one.not ?? {}, other.not ?? {}] } };
    case 'uniqueItems':
      return { uniqueItems: true };
    case 'propertyNames': {
      const names = join(one.propertyNames ?? {}, other.propertyNames ?? {});
      return names && { propertyNames: names };
    }
    case 'dependentRequired':
      return { dependentRequired: dependents(one, other) };
    default:
      return undefined;
  }
}

function types(one: Schema, other: Schema): Schema {
  const [own, theirs] = [one, other].map(({ type }) => (typeof type === 'string' ? [type] : (type ?? [])));
  const both = (own ?? []).flatMap((type) => {
    if (theirs?.includes(type)) return [type];
    if (type === 'integer') return theirs?.includes('number') ? ['integer'] : [];
    return type === 'number' && theirs?.includes('integer') ? ['integer'] : [];
  });
  const [single] = both;
  if (single === undefined) return nothing;
  return { type: both.length === 1 ? single : both };
}

function members(join: Join, one: Schema, other: Schema): Schema | undefined {
  const isOpaque = (schema: Schema) =>
    'patternProperties' in schema || ('unevaluatedProperties' in schema && isComposed(schema));
  if (isOpaque(one) || isOpaque(other)) return undefined;
  const free = (schema: Schema) => schema.additionalProperties ?? schema.unevaluatedProperties;
  const of = (schema: Schema, name: string) => ownOf(schema.properties, name) ?? free(schema) ?? {};
  const names = new Set([one, other].flatMap(({ properties = {} }) => Object.keys(properties)));
  const properties: Record<string, Schema> = {};
  for (const name of names) {
    const member = join(of(one, name), of(other, name));
    if (!member) return undefined;
    properties[name] = member;
  }
  const rest = join(free(one) ?? {}, free(other) ?? {});
  if (!rest) return undefined;
  const keyword = isComposed(one) || isComposed(other) ? 'additionalProperties' : 'unevaluatedProperties';
  return { properties, ...((free(one) ?? free(other)) && { [keyword]: rest }) };
}

export const ownOf = <Value>(map: Readonly<Record<string, Value>> = {}, name: string): Value | undefined =>
  Object.hasOwn(map, name) ? map[name] : undefined;

function items(join: Join, one: Schema, other: Schema): Schema | undefined {
  if ('unevaluatedItems' in one || 'unevaluatedItems' in other) return undefined;
  const [own = [], theirs = []] = [one.prefixItems, other.prefixItems];
  const length = Math.max(own.length, theirs.length);
  const prefix = Array.from({ length }, (_, at) =>
    join(own[at] ?? one.items ?? {}, theirs[at] ?? other.items ?? {}),
  );
  const rest = join(one.items ?? {}, other.items ?? {});
  if (!rest || prefix.includes(undefined)) return undefined;
  return {
    ...(length > 0 && { prefixItems: prefix as Schema[] }),
    ...((one.items ?? other.items) && { items: rest }),
  };
}

function dependents(one: Schema, other: Schema): Record<string, readonly string[]> {
  const [own = {}, theirs = {}] = [one.dependentRequired, other.dependentRequired];
  const triggers = [...Object.keys(own), ...Object.keys(theirs)];
  return Object.fromEntries(
    triggers.map((name) => [name, [...(ownOf(own, name) ?? []), ...(ownOf(theirs, name) ?? [])]]),
  );
}
