/** Tests every keyword of JSON Schema 2020-12 and every object of OpenAPI 3.1 that can change: no change goes unnoticed. */
import { describe, expect, it } from 'vitest';
import type { Break } from './break.ts';
import { compare } from './compare.ts';
import type { Document } from './document.ts';

type Json = Record<string, unknown>;
const json = (schema: unknown) => ({ 'application/json': { schema } });

function documentOf(operation: Json = {}, more: Json = {}): Document {
  const post = { operationId: 'Things_make', responses: { '200': {} }, ...operation };
  return { paths: { '/things': { post } }, components: { schemas: {} }, ...more };
}
const sends = (schema: unknown) => documentOf({ requestBody: { required: true, content: json(schema) } });
const answers = (schema: unknown) => documentOf({ responses: { '200': { content: json(schema) } } });
const asks = (schema: Json, more: Json = {}) =>
  documentOf({ parameters: [{ name: 'q', in: 'query', required: false, schema, ...more }] });

type Verdict = 'break' | 'perhaps' | 'fine';
const verdictOf = (breaks: readonly Break[]): Verdict =>
  breaks.some(({ certain }) => certain) ? 'break' : breaks.length > 0 ? 'perhaps' : 'fine';

const text = (more: Json = {}) => ({ type: 'string', ...more });
const list = (more: Json = {}) => ({ type: 'array', ...more });
const object = (more: Json = {}) => ({ type: 'object', ...more });
const number = (more: Json = {}) => ({ type: 'number', ...more });
const A = text({ const: 'a' });

/** [what, before, after, in a request, in an answer] */
const schemas: [string, unknown, unknown, Verdict, Verdict][] = [
  ['type narrowed', number(), { type: 'integer' }, 'break', 'fine'],
  ['type widened', { type: 'integer' }, number(), 'fine', 'break'],
  [
    'type widened within bounds',
    { type: 'integer', minimum: 0, maximum: 9, format: 'int32' },
    number({ minimum: 0, maximum: 9 }),
    'fine',
    'break',
  ],
  ['type of a nullable', { type: ['integer', 'null'] }, { type: ['number', 'null'] }, 'fine', 'break'],
  [
    'type of a form',
    { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    { anyOf: [number(), { type: 'null' }] },
    'fine',
    'break',
  ],
  ['type in another order', { type: ['null', 'string'] }, { type: ['string', 'null'] }, 'fine', 'fine'],
  ['const added', text(), A, 'break', 'fine'],
  ['const changed', A, text({ const: 'b' }), 'break', 'break'],
  ['enum in another order', text({ enum: ['a', 'b'] }), text({ enum: ['b', 'a'] }), 'fine', 'fine'],
  [
    'enum with an object that has a description',
    { enum: [{ description: 'a' }] },
    { enum: [{ description: 'b' }] },
    'break',
    'break',
  ],
  [
    'what is restored, by the name of a word',
    object({ 'x-restores': { description: 'a' } }),
    object({ 'x-restores': { description: 'b' } }),
    'perhaps',
    'fine',
  ],
  [
    'a member that depends on one called description',
    object(),
    object({ dependentRequired: { description: ['a'] } }),
    'break',
    'fine',
  ],
  ['multipleOf added', number(), number({ multipleOf: 3 }), 'break', 'fine'],
  ['multipleOf a multiple', number({ multipleOf: 6 }), number({ multipleOf: 3 }), 'fine', 'break'],
  ['maximum lowered', number({ maximum: 9 }), number({ maximum: 8 }), 'break', 'fine'],
  [
    'exclusiveMaximum lowered',
    number({ exclusiveMaximum: 9 }),
    number({ exclusiveMaximum: 8 }),
    'break',
    'fine',
  ],
  ['minimum raised', number({ minimum: 1 }), number({ minimum: 2 }), 'break', 'fine'],
  [
    'exclusiveMinimum raised',
    number({ exclusiveMinimum: 1 }),
    number({ exclusiveMinimum: 2 }),
    'break',
    'fine',
  ],
  [
    'maxLength of megabytes',
    text({ maxLength: 16 * 2 ** 20 }),
    text({ maxLength: 8 * 2 ** 20 }),
    'break',
    'fine',
  ],
  [
    'maxLength of megabytes beside a pattern',
    text({ maxLength: 16 * 2 ** 20, pattern: '^a' }),
    text({ maxLength: 8 * 2 ** 20, pattern: '^a' }),
    'perhaps',
    'fine',
  ],
  [
    'maxLength beyond what is tried',
    text({ maxLength: 2 ** 31 }),
    text({ maxLength: 2 ** 30 }),
    'perhaps',
    'fine',
  ],
  ['minLength raised', text({ minLength: 1 }), text({ minLength: 2 }), 'break', 'fine'],
  ['pattern in other words', text({ pattern: '^[0-9]$' }), text({ pattern: '^\\d$' }), 'perhaps', 'perhaps'],
  ['pattern dropped', text({ pattern: '^[0-9]$' }), text(), 'fine', 'break'],
  ['format added', text(), text({ format: 'uuid' }), 'break', 'fine'],
  ['format that nothing judges', text(), text({ format: 'address' }), 'perhaps', 'fine'],
  ['maxItems of tens of thousands', list({ maxItems: 60_000 }), list({ maxItems: 50_000 }), 'break', 'fine'],
  [
    'maxItems beyond what is tried',
    list({ maxItems: 2 ** 30 }),
    list({ maxItems: 2 ** 29 }),
    'perhaps',
    'fine',
  ],
  ['minItems raised', list({ minItems: 1 }), list({ minItems: 2 }), 'break', 'fine'],
  ['uniqueItems', list({ items: text() }), list({ items: text(), uniqueItems: true }), 'break', 'fine'],
  ['items refused', list(), list({ items: false }), 'break', 'fine'],
  ['prefixItems added', list(), list({ prefixItems: [number()] }), 'break', 'fine'],
  [
    'prefixItems dropped before items',
    list({ prefixItems: [number()], items: text() }),
    list({ items: text() }),
    'break',
    'break',
  ],
  ['contains added', list(), list({ contains: A }), 'break', 'fine'],
  ['contains changed', list({ contains: text() }), list({ contains: number() }), 'break', 'break'],
  ['minContains raised', list({ contains: A }), list({ contains: A, minContains: 2 }), 'break', 'fine'],
  ['minContains dropped', list({ contains: A, minContains: 0 }), list({ contains: A }), 'break', 'fine'],
  ['maxContains added', list({ contains: A }), list({ contains: A, maxContains: 2 }), 'break', 'fine'],
  [
    'unevaluatedItems',
    list({ prefixItems: [A] }),
    list({ prefixItems: [A], unevaluatedItems: false }),
    'break',
    'fine',
  ],
  [
    'required',
    object({ properties: { a: A } }),
    object({ properties: { a: A }, required: ['a'] }),
    'break',
    'fine',
  ],
  [
    'required in another order',
    object({ required: ['a', 'b'] }),
    object({ required: ['b', 'a'] }),
    'fine',
    'fine',
  ],
  [
    'a member called description',
    object({ properties: { description: text() } }),
    object({ properties: { description: number() } }),
    'break',
    'break',
  ],
  ['maxProperties', object({ maxProperties: 9 }), object({ maxProperties: 8 }), 'break', 'fine'],
  ['minProperties', object(), object({ minProperties: 1 }), 'break', 'fine'],
  ['additionalProperties: false', object(), object({ additionalProperties: false }), 'break', 'fine'],
  ['additionalProperties: false dropped', object({ additionalProperties: false }), object(), 'fine', 'fine'],
  ['additionalProperties typed', object(), object({ additionalProperties: number() }), 'break', 'fine'],
  [
    'additionalProperties beside forms',
    { anyOf: [object()] },
    { anyOf: [object()], additionalProperties: false },
    'break',
    'fine',
  ],
  ['unevaluatedProperties: false', object(), object({ unevaluatedProperties: false }), 'break', 'fine'],
  ['patternProperties added', object(), object({ patternProperties: { '^a': number() } }), 'break', 'fine'],
  [
    'patternProperties of a sealed object dropped',
    object({ patternProperties: { '^a': A }, additionalProperties: false }),
    object({ additionalProperties: false }),
    'break',
    'fine',
  ],
  ['propertyNames', object(), object({ propertyNames: { maxLength: 3 } }), 'break', 'fine'],
  ['dependentRequired', object(), object({ dependentRequired: { a: ['b'] } }), 'break', 'fine'],
  ['dependentSchemas', object(), object({ dependentSchemas: { a: { required: ['b'] } } }), 'break', 'fine'],
  [
    'if and then added',
    object(),
    object({ if: { required: ['a'] }, then: { required: ['b'] } }),
    'break',
    'fine',
  ],
  [
    'else added',
    object({ if: { required: ['a'] } }),
    object({ if: { required: ['a'] }, else: { required: ['b'] } }),
    'break',
    'fine',
  ],
  ['not added', text(), text({ not: { const: 'text' } }), 'break', 'fine'],
  ['not changed', text({ not: { const: 'x1' } }), text({ not: { const: 'x2' } }), 'break', 'break'],
  [
    'oneOf made exclusive',
    { anyOf: [text({ maxLength: 5 }), text({ minLength: 3 })] },
    { oneOf: [text({ maxLength: 5 }), text({ minLength: 3 })] },
    'break',
    'fine',
  ],
  [
    'oneOf of what excludes itself',
    { anyOf: [text(), number()] },
    { oneOf: [text(), number()] },
    'fine',
    'fine',
  ],
  [
    'oneOf gains a form that overlaps',
    { oneOf: [text()] },
    { oneOf: [text(), text({ maxLength: 9 })] },
    'break',
    'fine',
  ],
  ['a form added', { anyOf: [text()] }, { anyOf: [text(), number()] }, 'fine', 'break'],
  ['forms in another order', { anyOf: [text(), number()] }, { anyOf: [number(), text()] }, 'fine', 'fine'],
  ['allOf gains a part', { allOf: [object()] }, { allOf: [object(), { required: ['a'] }] }, 'break', 'fine'],
  ['contentEncoding added', text(), text({ contentEncoding: 'base64' }), 'break', 'fine'],
  ['contentEncoding dropped', text({ contentEncoding: 'base64' }), text(), 'fine', 'break'],
  [
    'contentMediaType',
    text({ contentMediaType: 'image/png' }),
    text({ contentMediaType: 'image/gif' }),
    'break',
    'break',
  ],
  ['contentSchema', text({ contentSchema: text() }), text({ contentSchema: number() }), 'perhaps', 'perhaps'],
  [
    'discriminator',
    object({ discriminator: { propertyName: 'a' } }),
    object({ discriminator: { propertyName: 'b' } }),
    'perhaps',
    'perhaps',
  ],
  [
    'readOnly',
    object({ properties: { a: text() } }),
    object({ properties: { a: text({ readOnly: true }) } }),
    'break',
    'fine',
  ],
  [
    'writeOnly',
    object({ properties: { a: text() } }),
    object({ properties: { a: text({ writeOnly: true }) } }),
    'fine',
    'fine',
  ],
  [
    '$dynamicRef',
    object({ properties: { a: {} } }),
    object({ properties: { a: { $dynamicRef: '#/components' } } }),
    'perhaps',
    'fine',
  ],
  ['a keyword of nobody', text(), text({ 'x-unit': 'cm' }), 'perhaps', 'fine'],
  ['words', text({ title: 'A', description: 'b', deprecated: true, $comment: 'c' }), text(), 'fine', 'fine'],
  ['everything refused', text(), false, 'break', 'fine'],
];

const member = (schema: Json, more: Json = {}) => object({ properties: { a: schema }, ...more });

/** Small versions of changes that oasdiff has cases for, with their effect on clients. */
const composed: typeof schemas = [
  // A list in the old order is refused, and one in the new order was.
  [
    'prefixItems in another order',
    list({ prefixItems: [text(), number()] }),
    list({ prefixItems: [number(), text()] }),
    'break',
    'break',
  ],
  // A third item could be anything.
  [
    'items refused after prefixItems',
    list({ prefixItems: [text()] }),
    list({ prefixItems: [text()], items: false }),
    'break',
    'fine',
  ],
  ['a type wrapped to take null', text(), { anyOf: [text(), { type: 'null' }] }, 'fine', 'break'],
  ['a type that no longer takes null', { type: ['string', 'null'] }, text(), 'break', 'fine'],
  [
    'null written as a form',
    { type: ['string', 'null'] },
    { anyOf: [text(), { type: 'null' }] },
    'fine',
    'fine',
  ],
  ['an enum dropped', member(text({ enum: ['a', 'b'] })), member(text()), 'fine', 'break'],
  [
    'an enum and a type at once',
    member({ type: 'integer' }),
    member(text({ enum: ['a'] })),
    'break',
    'break',
  ],
  [
    'a member required in a part',
    { allOf: [object()] },
    { allOf: [member(text(), { required: ['a'] })] },
    'break',
    'fine',
  ],
  ['a part dropped', { allOf: [object(), { required: ['a'] }] }, { allOf: [object()] }, 'fine', 'break'],
  [
    'a member of the members',
    object({ additionalProperties: member({ type: 'integer' }) }),
    object({ additionalProperties: member(text()) }),
    'break',
    'break',
  ],
  ['bounds that are new', number(), number({ exclusiveMinimum: 0, exclusiveMaximum: 9 }), 'break', 'fine'],
  ['minItems that is new', list(), list({ minItems: 1 }), 'break', 'fine'],
  ['maxLength dropped', text({ maxLength: 9 }), text(), 'fine', 'break'],
  ['the same form twice', { anyOf: [text()] }, { anyOf: [text(), text()] }, 'fine', 'fine'],
];

describe('a keyword that changes', { timeout: 30_000 }, () => {
  // Without a compiler for it, Ajv does not evaluate this keyword. It evaluates all others.
  const judged = [...schemas, ...composed].filter(([name]) => name !== '$dynamicRef');
  it.each(judged)('%s', (_, before, after, request, answer) => {
    expect([
      verdictOf(compare(sends(before), sends(after))),
      verdictOf(compare(answers(before), answers(after))),
    ]).toEqual([request, answer]);
  });
});

const base = documentOf({ security: [{ Key: [] }] });
const withKey = (key: Json) =>
  ({ ...base, components: { securitySchemes: { Key: key } } }) as unknown as Document;

const documents: [string, Document, Document, Verdict][] = [
  ['one value that becomes an exploded list', asks(text()), asks(list({ items: text() })), 'fine'],
  ['one value that becomes a list of others', asks(text()), asks(list({ items: number() })), 'break'],
  ['one value that becomes a list of two', asks(text()), asks(list({ items: text(), minItems: 2 })), 'break'],
  [
    'one text that becomes a list with commas',
    asks(text()),
    asks(list({ items: text() }), { explode: false }),
    'break',
  ],
  [
    'one number that becomes a list with commas',
    asks(number()),
    asks(list({ items: number() }), { explode: false }),
    'fine',
  ],
  ['a list that becomes one value', asks(list({ items: text() })), asks(text()), 'break'],
  [
    'a member of an object in a query',
    asks(member({ type: ['string', 'null'] })),
    asks(member(text())),
    'fine',
  ],
  ['an enum of a query that is dropped', asks(text({ enum: ['a'] })), asks(text()), 'fine'],
  ['reserved characters', asks(text(), { allowReserved: true }), asks(text()), 'perhaps'],
  [
    'other servers',
    documentOf({}, { servers: [{ url: '/a' }] }),
    documentOf({}, { servers: [{ url: '/b' }] }),
    'perhaps',
  ],
  ['webhooks', documentOf({}, { webhooks: { a: {} } }), documentOf(), 'break'],
  ['callbacks', documentOf({ callbacks: { done: {} } }), documentOf(), 'perhaps'],
  [
    'a key in another header',
    withKey({ type: 'apiKey', in: 'header', name: 'X-A' }),
    withKey({ type: 'apiKey', in: 'header', name: 'X-B' }),
    'break',
  ],
  [
    'a key described otherwise',
    withKey({ type: 'apiKey', in: 'header', name: 'X-A' }),
    withKey({ type: 'apiKey', in: 'header', name: 'X-A', description: 'a' }),
    'fine',
  ],
  ['unknown parameters no longer ignored', documentOf({ 'x-tolerant': true }), documentOf(), 'break'],
  [
    'parameters of the path instead of the operation',
    asks(text()),
    {
      paths: {
        '/things': {
          parameters: [{ name: 'q', in: 'query', schema: text() }],
          ...documentOf().paths['/things'],
        },
      },
    } as unknown as Document,
    'fine',
  ],
];

describe('a document that changes', () => {
  it.each(documents)('%s', (_, before, after, said) => {
    expect(verdictOf(compare(before, after))).toBe(said);
  });
});
