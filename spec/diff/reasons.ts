/** Why a value is refused, in the words of a 400: which place, which keyword. Ajv judges; this explains. */
import { formsOf, isObject, isSealed, type Schema } from './document.ts';
import type { Judge } from './judge.ts';

export interface Reason {
  /** `name`, `items[].price`; empty for the value itself. */
  readonly place: string;
  readonly keyword: string;
  readonly message: string;
}

/** Keywords that are explained here; anything else is left to Ajv as a whole. */
const explained = new Set(
  (
    'type properties required unevaluatedProperties items anyOf oneOf allOf enum const default examples pattern format ' +
    'minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems uniqueItems minProperties ' +
    'maxProperties description title readOnly contentMediaType contentEncoding contentSchema'
  ).split(' '),
);

/** Keywords of a schema that only Ajv understands; among them the seal of an object that is composed of others. */
export function unexplained(schema: Schema): string[] {
  const composed = formsOf(schema) !== undefined || schema.allOf !== undefined;
  return Object.keys(schema).filter((keyword) =>
    keyword === 'unevaluatedProperties' ? composed : !explained.has(keyword) && !keyword.startsWith('x-'),
  );
}

/** Empty when the value is valid. */
export function reasons(judge: Judge, reference: Schema, value: unknown, place = ''): Reason[] {
  const schema = judge.resolve(reference);
  const foreign = unexplained(schema);
  if (foreign.length > 0) {
    return judge.accepts(schema, value)
      ? []
      : [{ place, keyword: foreign[0] ?? '', message: 'is not valid' }];
  }
  const forms = formsOf(schema);
  return [
    ...(forms ? ofForms(judge, forms, value, place) : []),
    ...(schema.allOf ?? []).flatMap((part) => reasons(judge, part, value, place)),
    ...ofValue(judge, schema, value, place),
  ];
}

/** The reasons of the one form that was meant, if that can be told. */
function ofForms(judge: Judge, forms: readonly Schema[], value: unknown, place: string): Reason[] {
  const all = forms.map((form) => reasons(judge, form, value, place));
  if (all.some((found) => found.length === 0)) return [];
  const meant = all.filter((found) => !found.some((one) => one.place === place && one.keyword === 'type'));
  if (meant.length === 1 && meant[0]) return meant[0];
  return [{ place, keyword: 'anyOf', message: 'must match one of its forms' }];
}

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;

export const typesOf = ({ type }: Schema): readonly string[] | undefined =>
  type === undefined ? undefined : typeof type === 'string' ? [type] : type;

function ofValue(judge: Judge, schema: Schema, value: unknown, place: string): Reason[] {
  const types = typesOf(schema);
  const actual = typeOf(value);
  const fits = (type: string) => type === actual || (type === 'integer' && Number.isInteger(value));
  if (types && !types.some(fits)) {
    return [{ place, keyword: 'type', message: `must be ${types.join(' or ')}` }];
  }
  const found: Reason[] = [];
  const check = (keyword: string, broken: boolean, message: string) => {
    if (keyword in schema && broken) found.push({ place, keyword, message });
  };
  check('const', !same(schema.const, value), `must be ${JSON.stringify(schema.const)}`);
  check(
    'enum',
    !(schema.enum ?? []).some((one) => same(one, value)),
    `must be one of ${(schema.enum ?? []).join(', ')}`,
  );
  if (typeof value === 'string') ofText(judge, schema, value, check);
  if (typeof value === 'number') ofNumber(judge, schema, value, check);
  if (Array.isArray(value)) found.push(...ofList(judge, schema, value, place, check));
  if (isObject(value)) found.push(...ofObject(judge, schema, value, place, check));
  return found;
}

export const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

type Check = (keyword: string, broken: boolean, message: string) => void;

function ofText(judge: Judge, schema: Schema, value: string, check: Check): void {
  const { minLength = 0, maxLength = Infinity, pattern, format } = schema;
  const length = [...value].length;
  check('minLength', length < minLength, `must have at least ${minLength} characters`);
  check('maxLength', length > maxLength, `must have at most ${maxLength} characters`);
  if (pattern !== undefined) {
    check('pattern', !expression(pattern).test(value), `must match ${pattern}`);
  }
  if (format !== undefined) {
    check('format', !judge.accepts({ type: 'string', format }, value), `must be a ${format}`);
  }
}

const expressions = new Map<string, RegExp>();

export function expression(pattern: string): RegExp {
  let found = expressions.get(pattern);
  if (!found) expressions.set(pattern, (found = new RegExp(pattern, 'u')));
  return found;
}

function ofNumber(judge: Judge, schema: Schema, value: number, check: Check): void {
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum, exclusiveMaximum, format } = schema;
  check('minimum', value < minimum, `must be at least ${minimum}`);
  check('maximum', value > maximum, `must be at most ${maximum}`);
  check('exclusiveMinimum', value <= (exclusiveMinimum ?? -Infinity), `must be above ${exclusiveMinimum}`);
  check('exclusiveMaximum', value >= (exclusiveMaximum ?? Infinity), `must be below ${exclusiveMaximum}`);
  if (format !== undefined) {
    check('format', !judge.accepts({ type: 'number', format }, value), `must be a ${format}`);
  }
}

function ofList(judge: Judge, schema: Schema, value: unknown[], place: string, check: Check): Reason[] {
  const { minItems = 0, maxItems = Infinity, items } = schema;
  check('minItems', value.length < minItems, `must have at least ${minItems} items`);
  check('maxItems', value.length > maxItems, `must have at most ${maxItems} items`);
  const distinct = new Set(value.map((item) => JSON.stringify(item)));
  check(
    'uniqueItems',
    schema.uniqueItems === true && distinct.size < value.length,
    'must not repeat an item',
  );
  if (!items) return [];
  const different = [...distinct].map((text) => JSON.parse(text) as unknown);
  return different.flatMap((item) => reasons(judge, items, item, `${place}[]`));
}

function ofObject(
  judge: Judge,
  schema: Schema,
  value: Record<string, unknown>,
  place: string,
  check: Check,
): Reason[] {
  const {
    minProperties = 0,
    maxProperties = Infinity,
    properties = {},
    unevaluatedProperties: open,
  } = schema;
  const count = Object.keys(value).length;
  check('minProperties', count < minProperties, `must have at least ${minProperties} members`);
  check('maxProperties', count > maxProperties, `must have at most ${maxProperties} members`);
  const missing = (schema.required ?? []).filter((name) => !Object.hasOwn(value, name));
  const members = Object.entries(value).flatMap(([name, part]) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property) return reasons(judge, property, part, within(place, name));
    if (isSealed(schema)) return [{ place: within(place, name), keyword: 'unknown', message: 'is unknown' }];
    return open ? reasons(judge, open, part, within(place, '*')) : [];
  });
  return [
    ...missing.map((name) => ({ place: within(place, name), keyword: 'required', message: 'is required' })),
    ...members,
  ];
}

export const within = (place: string, name: string): string => (place === '' ? name : `${place}.${name}`);
