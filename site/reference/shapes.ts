/** Says in words what a schema of the contract allows. */
import { resolve, type Schema } from '../../src/mock/contract/document.ts';
import type { ServiceDocument } from './services.ts';

/** A schema with what its reference says merged in, and what it may be besides null. */
export interface Shape {
  readonly schema: Schema;
  /** The name in the contract; undefined for a schema without one. */
  readonly name: string | undefined;
  readonly nullable: boolean;
  /** What it may be, when it may be one of several. */
  readonly variants: readonly Schema[];
}

export function shapeOf(document: ServiceDocument, written: Schema): Shape {
  const name = written.$ref?.replace('#/components/schemas/', '');
  const { $ref, ...own } = written;
  const schema: Schema = $ref === undefined ? own : { ...resolve(document, written), ...own };
  const choices = schema.anyOf ?? [];
  const variants = choices.filter(({ type }) => type !== 'null');
  const nullable = variants.length < choices.length;
  if (variants.length !== 1) return { schema, name, nullable, variants };
  const { anyOf: _, ...outer } = schema;
  const only = shapeOf(document, variants[0]!);
  return { ...only, schema: { ...only.schema, ...outer }, nullable: nullable || only.nullable };
}

/** The type of a value in words, such as `list of strings` or `object or null`. */
export function typeWords(document: ServiceDocument, written: Schema): string {
  const shape = shapeOf(document, written);
  return shape.nullable ? `${plainWords(document, shape)} or null` : plainWords(document, shape);
}

function plainWords(document: ServiceDocument, { schema, variants }: Shape): string {
  if (variants.length > 0)
    return [...new Set(variants.map((variant) => typeWords(document, variant)))].join(' or ');
  const { type, items, properties, format } = schema;
  if (type === 'array') return items ? `list of ${plural(typeWords(document, items))}` : 'list';
  if (type === 'object') {
    const values = valuesOf(schema);
    return properties || !values ? 'object' : `map of ${plural(typeWords(document, values))}`;
  }
  if (type === 'string') return format === undefined ? 'string' : (formatWords[format as string] ?? 'string');
  return typeof type === 'string' ? type : 'any value';
}

const formatWords: Readonly<Record<string, string>> = {
  'date-time': 'date and time',
  date: 'date',
  uri: 'URL',
  email: 'email address',
  binary: 'bytes',
  byte: 'Base64 text',
};

const plural = (words: string): string =>
  words.includes(' ') ? `(${words})` : words === 'any value' ? words : `${words}s`;

/** The schema of the values of a map; undefined when they may be anything. */
export function valuesOf({ unevaluatedProperties }: Schema): Schema | undefined {
  const values = unevaluatedProperties as Schema | undefined;
  return values && !('not' in values) && Object.keys(values).length > 0 ? values : undefined;
}

/** The bounds of a value, each a phrase in Markdown. */
export function boundsOf(document: ServiceDocument, written: Schema): string[] {
  const { schema } = shapeOf(document, written);
  const { enum: closed, pattern, uniqueItems, default: initial, items } = schema;
  return [
    ...(closed ? [`${closed.length === 1 ? 'always' : 'one of'} ${closed.map(quoted).join(', ')}`] : []),
    ...range(schema, 'minimum', 'maximum', ''),
    ...(closed ? [] : range(schema, 'minLength', 'maxLength', ' characters')),
    ...range(schema, 'minItems', 'maxItems', ' items'),
    ...range(schema, 'minProperties', 'maxProperties', ' members'),
    ...(uniqueItems ? ['no item twice'] : []),
    ...(typeof pattern === 'string' ? [`matches ${quoted(pattern)}`] : []),
    ...(items ? boundsOf(document, items).map((bound) => `each item: ${bound}`) : []),
    ...(initial === undefined ? [] : [`default ${quoted(initial)}`]),
  ];
}

function range(schema: Schema, least: string, most: string, unit: string): string[] {
  const [from, to] = [schema[least], schema[most]] as (number | undefined)[];
  const written = (bound: number) => bound.toLocaleString('en', { maximumFractionDigits: 20 });
  if (from !== undefined && to !== undefined)
    return [from === to ? `exactly ${written(from)}${unit}` : `${written(from)} to ${written(to)}${unit}`];
  if (from !== undefined) return [`at least ${written(from)}${unit}`];
  return to === undefined ? [] : [`at most ${written(to)}${unit}`];
}

/** A value as code in Markdown; a fence longer than any in the text keeps the text as it is. */
export function quoted(value: unknown): string {
  const text = typeof value === 'string' && value !== '' ? value : JSON.stringify(value);
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? `${fence}${text}${fence}` : `${fence} ${text} ${fence}`;
}
