/** Decides by keyword whether everything that one schema accepts satisfies that keyword of the other. */
import type { Schema } from './document.ts';
import { isJson } from './content.ts';
import { isSealed } from './document.ts';
import { alike, meaning } from './meaning.ts';
import { typesOf } from './reasons.ts';

/** Whether the wide schema is proved to accept everything that the narrow one does. */
export interface Takes {
  /** The narrow schema comes from the first document, the wide one from the second. */
  (wide: Schema, narrow: Schema): boolean;
  /** The reverse, which is needed under a negation. */
  back(wide: Schema, narrow: Schema): boolean;
}

export function isImplied(
  takes: Takes,
  requests: boolean,
  keyword: string,
  one: Schema,
  other: Schema,
): boolean {
  const group = groups.find((keywords) => keywords.includes(keyword)) ?? [keyword];
  if (group.every((name) => alike(name, one, other))) return true;
  const rule = rules[group[0] ?? ''];
  if (rule) return rule(one, other, takes);
  // Restored defaults, and who may set a member, matter for requests only.
  return keyword === 'x-restores' && !requests;
}

/** Keywords that have a meaning only together. */
const groups: readonly (readonly string[])[] = [
  ['if', 'then', 'else'],
  ['contains', 'minContains', 'maxContains'],
  ['contentSchema', 'contentMediaType', 'contentEncoding'],
];

type Rule = (one: Schema, other: Schema, takes: Takes) => boolean;

const rules: Readonly<Record<string, Rule | undefined>> = {
  type: (one, other) => typesOf(one)?.every((type) => includes(typesOf(other) ?? [], type)) ?? false,
  minLength: (one, { minLength = 0 }) => (one.minLength ?? 0) >= minLength,
  maxLength: (one, { maxLength = Infinity }) => (one.maxLength ?? Infinity) <= maxLength,
  minItems: (one, { minItems = 0 }) => (one.minItems ?? 0) >= minItems,
  maxItems: (one, { maxItems = Infinity }) => (one.maxItems ?? Infinity) <= maxItems,
  minProperties: (one, { minProperties = 0 }) =>
    Math.max(one.minProperties ?? 0, new Set(one.required).size) >= minProperties,
  maxProperties: (one, { maxProperties = Infinity }) =>
    Math.min(one.maxProperties ?? Infinity, mostMembers(one)) <= maxProperties,
  minimum: (one, { minimum = -Infinity }) =>
    Math.max(one.minimum ?? -Infinity, one.exclusiveMinimum ?? -Infinity) >= minimum,
  maximum: (one, { maximum = Infinity }) =>
    Math.min(one.maximum ?? Infinity, one.exclusiveMaximum ?? Infinity) <= maximum,
  exclusiveMinimum: (one, { exclusiveMinimum = -Infinity }) =>
    (one.minimum ?? -Infinity) > exclusiveMinimum || (one.exclusiveMinimum ?? -Infinity) >= exclusiveMinimum,
  exclusiveMaximum: (one, { exclusiveMaximum = Infinity }) =>
    (one.maximum ?? Infinity) < exclusiveMaximum || (one.exclusiveMaximum ?? Infinity) <= exclusiveMaximum,
  multipleOf: ({ multipleOf: was }, { multipleOf: is }) =>
    Number.isInteger(was) && Number.isInteger(is) && Number(was) % Number(is) === 0,
  uniqueItems: (one, other) => other.uniqueItems !== true || (one.maxItems ?? Infinity) <= 1,
  pattern: (_, { pattern = '' }) => universal.has(pattern),
  format: (one, other) => {
    const isNumeric = typesOf(one)?.every((type) => type === 'integer' || type === 'number') ?? false;
    return isNumeric && width(one) <= width(other);
  },
  required: (one, other) => other.required?.every((name) => one.required?.includes(name)) ?? true,
  not: (one, other, takes) => one.not !== undefined && takes.back(one.not, other.not ?? {}),
  propertyNames: (one, other, takes) =>
    takes(other.propertyNames ?? {}, { type: 'string', ...one.propertyNames }),
  dependentRequired: (one, { dependentRequired = {} }) =>
    Object.entries(dependentRequired).every(([name, names]) => {
      const held = [...(own(one.dependentRequired, name) ?? []), ...(one.required ?? [])];
      return cannotHave(one, name) || names.every((wanted) => held.includes(wanted));
    }),
  dependentSchemas: (one, { dependentSchemas = {} }, takes) =>
    Object.entries(dependentSchemas).every(
      ([name, part]) => cannotHave(one, name) || either(takes, part, one, own(one.dependentSchemas, name)),
    ),
  if: (one, other, takes) => {
    if (!other.if) return true;
    const isSame = meaning(one.if) === meaning(other.if);
    return [
      [other.then, one.then],
      [other.else, one.else],
    ].every(([part, was]) => part === undefined || either(takes, part, one, isSame ? was : undefined));
  },
  contains: (one, other, takes) => {
    if (!other.contains) return true;
    const { contains: was, minContains: least = 1, maxContains: most = Infinity } = one;
    const { contains: is, minContains = 1, maxContains = Infinity } = other;
    const enough = minContains === 0 || (was !== undefined && least >= minContains && takes(is, was));
    const few = maxContains === Infinity || (was !== undefined && most <= maxContains && takes.back(was, is));
    return enough && few;
  },
  contentSchema: (one, other, takes) =>
    other.contentSchema === undefined ||
    (!('contentSchema' in one) && isJson(other.contentMediaType) && takes(other.contentSchema, {})) ||
    ('contentSchema' in one && takes(other.contentSchema, one.contentSchema ?? {})),
  discriminator: (one, other) => isExtended(one['discriminator'], other['discriminator']),
};

/** Patterns that match any text. */
const universal = new Set(['', '.*', '^', '$', '^.*', '.*$']);

const includes = (types: readonly string[], type: string): boolean =>
  types.includes(type) || (type === 'integer' && types.includes('number'));

function width({ type, format }: Schema): number {
  if (format === 'int32') return 1;
  return format === 'int64' || (format === undefined && type === 'integer') ? 2 : 3;
}

const own = <Value>(map: Readonly<Record<string, Value>> | undefined, name: string): Value | undefined =>
  map && Object.hasOwn(map, name) ? map[name] : undefined;

const mostMembers = (schema: Schema): number =>
  isSealed(schema) && !schema.patternProperties ? Object.keys(schema.properties ?? {}).length : Infinity;

/** The seal of a composed schema does not say which members its parts allow. */
const cannotHave = (schema: Schema, name: string): boolean =>
  mostMembers(schema) < Infinity &&
  !['allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas'].some((keyword) => keyword in schema) &&
  !Object.hasOwn(schema.properties ?? {}, name);

const either = (takes: Takes, wide: Schema, one: Schema, part: Schema | undefined): boolean =>
  takes(wide, one) || (part !== undefined && takes(wide, part));

interface Discriminator {
  readonly propertyName?: string;
  readonly mapping?: Readonly<Record<string, string>>;
}

/** Whether the other discriminator contains everything that the first does. */
function isExtended(was: unknown, is: unknown): boolean {
  const [old, now] = [was as Discriminator | undefined, is as Discriminator];
  if (!old || old.propertyName !== now.propertyName) return false;
  return Object.entries(old.mapping ?? {}).every(([name, form]) => own(now.mapping, name) === form);
}
