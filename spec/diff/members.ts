/** What a schema says about a member by its name, and about an item by its index. */
import type { Schema } from './document.ts';

/** Returns the schema of members without a matching name or pattern, if the schema itself gives one. */
export const freeOf = ({ unevaluatedProperties, additionalProperties }: Schema): Schema =>
  additionalProperties ?? unevaluatedProperties ?? {};

export function memberOf(schema: Schema, name: string): Schema {
  const matching = Object.entries(schema.patternProperties ?? {}).flatMap(([pattern, part]) =>
    expression(pattern).test(name) ? [part] : [],
  );
  const own = Object.hasOwn(schema.properties ?? {}, name) ? [schema.properties?.[name] ?? {}] : [];
  const [first, ...more] = [...own, ...matching];
  if (!first) return freeOf(schema);
  return more.length === 0 ? first : { allOf: [first, ...more] };
}

export const itemOf = ({ prefixItems = [], items = {} }: Schema, at: number): Schema =>
  prefixItems[at] ?? items;

const expressions = new Map<string, RegExp>();

export function expression(pattern: string): RegExp {
  let found = expressions.get(pattern);
  if (!found) expressions.set(pattern, (found = new RegExp(pattern, 'u')));
  return found;
}
