/** Explains why a value is refused, as a 400 does: at which place, by which keyword. Ajv decides; this only explains. */
import { formsOf, isNothing, isObject, type Schema } from './document.ts';
import { isComposed } from './flat.ts';
import { readContent, sayContent } from './content.ts';
import type { Judge } from './judge.ts';
import { expression, freeOf, itemOf, memberOf } from './members.ts';
import { same } from './values.ts';

export interface Reason {
  /** `name`, `items[].price`; empty for the value itself. */
  readonly place: string;
  readonly keyword: string;
  readonly message: string;
}

/** Keywords that are explained here. All others are left to Ajv. */
const explained = new Set(
  (
    'type properties patternProperties required unevaluatedProperties additionalProperties items prefixItems anyOf oneOf allOf enum const default examples pattern format ' +
    'minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems uniqueItems minProperties ' +
    'maxProperties description title readOnly writeOnly deprecated contentMediaType contentEncoding contentSchema ' +
    'discriminator externalDocs xml example summary $comment'
  ).split(' '),
);

/** Returns the keywords of a schema that only Ajv evaluates, including the seal of a composed object. */
export function unexplained(schema: Schema): string[] {
  return Object.keys(schema).filter((keyword) =>
    keyword === 'unevaluatedProperties'
      ? isComposed(schema)
      : !explained.has(keyword) && !keyword.startsWith('x-'),
  );
}

/** Returns why a value is invalid, or an empty list when it is valid. */
export function reasons(judge: Judge, reference: Schema, value: unknown, place = ''): Reason[] {
  const schema = judge.resolve(reference);
  const [foreign] = unexplained(schema);
  if (foreign !== undefined && !judge.refuses(schema, value)) return [];
  const found = ofSchema(judge, schema, value, place);
  if (foreign === undefined || found.length > 0) return found;
  return [{ place, keyword: foreign, message: 'is not valid' }];
}

function ofSchema(judge: Judge, schema: Schema, value: unknown, place: string): Reason[] {
  const forms = formsOf(schema);
  return [
    ...(forms ? ofForms(judge, schema, forms, value, place) : []),
    ...(schema.allOf ?? []).flatMap((part) => reasons(judge, part, value, place)),
    ...ofValue(judge, schema, value, place),
  ];
}

/** Returns the reasons of the single form that was meant, if that can be determined. */
function ofForms(
  judge: Judge,
  { oneOf }: Schema,
  forms: readonly Schema[],
  value: unknown,
  place: string,
): Reason[] {
  const all = forms.map((form) => reasons(judge, form, value, place));
  const fitting = all.filter((found) => found.length === 0).length;
  if (oneOf && fitting > 1) return [{ place, keyword: 'oneOf', message: 'must match only one of its forms' }];
  if (fitting > 0) return [];
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

type Check = (keyword: string, broken: boolean, message: string) => void;

function ofText(judge: Judge, schema: Schema, value: string, check: Check): void {
  const { minLength = 0, maxLength = Infinity, pattern, format } = schema;
  const length = lengthOf(value);
  check('minLength', length < minLength, `must have at least ${minLength} characters`);
  check('maxLength', length > maxLength, `must have at most ${maxLength} characters`);
  if (pattern !== undefined) {
    check('pattern', !expression(pattern).test(value), `must match ${pattern}`);
  }
  if (format !== undefined) {
    check('format', !judge.accepts({ type: 'string', format }, value), `must be a ${format}`);
  }
  const content = readContent(schema, value);
  const said = sayContent(schema);
  if (!content) {
    const keyword = schema.contentMediaType === undefined ? 'contentEncoding' : 'contentMediaType';
    check(keyword, true, `must be ${said}`);
  } else if (schema.contentSchema && 'value' in content) {
    const fits = judge.accepts(schema.contentSchema, content.value);
    check('contentSchema', !fits, `must be ${said} of its schema`);
  }
}

/** Counts characters as JSON Schema does, without copying texts of several megabytes. */
export function lengthOf(text: string): number {
  if (!/[\ud800-\udfff]/.test(text)) return text.length;
  let length = 0;
  for (let at = 0; at < text.length; at += 1, length += 1) {
    if ((text.codePointAt(at) ?? 0) > 0xffff) at += 1;
  }
  return length;
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
  const { minItems = 0, maxItems = Infinity, items, prefixItems = [] } = schema;
  check('minItems', value.length < minItems, `must have at least ${minItems} items`);
  check('maxItems', value.length > maxItems, `must have at most ${maxItems} items`);
  const distinct = new Set([...new Set(value)].map((item) => JSON.stringify(item)));
  check(
    'uniqueItems',
    schema.uniqueItems === true && distinct.size < value.length,
    'must not repeat an item',
  );
  if (prefixItems.length > 0) {
    return value.flatMap((item, at) => reasons(judge, itemOf(schema, at), item, `${place}[]`));
  }
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
  const { minProperties = 0, maxProperties = Infinity, properties = {} } = schema;
  const count = Object.keys(value).length;
  check('minProperties', count < minProperties, `must have at least ${minProperties} members`);
  check('maxProperties', count > maxProperties, `must have at most ${maxProperties} members`);
  const missing = (schema.required ?? []).filter((name) => !Object.hasOwn(value, name));
  const members = Object.entries(value).flatMap(([name, part]) => {
    const member = memberOf(schema, name);
    if (member !== freeOf(schema)) return reasons(judge, member, part, within(place, name));
    // The unevaluated members depend on the parts of a composed schema, which only Ajv evaluates together.
    if ('unevaluatedProperties' in schema && isComposed(schema)) return [];
    if (isNothing(member)) return [{ place: within(place, name), keyword: 'unknown', message: 'is unknown' }];
    return reasons(judge, member, part, within(place, Object.hasOwn(properties, name) ? name : '*'));
  });
  return [
    ...missing.map((name) => ({ place: within(place, name), keyword: 'required', message: 'is required' })),
    ...members,
  ];
}

export const within = (place: string, name: string): string => (place === '' ? name : `${place}.${name}`);
