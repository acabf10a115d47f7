/** Tests every kind of change of a schema in both directions. A separate Ajv checks the witness of every reported break. */
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { compare } from './compare.ts';
import type { Document, Schema } from './document.ts';
import { answers, type Json, namesOf, object, sealed, sends, text } from './testing/contracts.ts';

function valid(document: Document, schema: Schema, value: unknown): boolean {
  const ajv = new Ajv2020({ strict: false, validateSchema: false });
  addFormats.default(ajv);
  const whole = { components: document.components, $defs: { it: schema }, $ref: '#/$defs/it' };
  return ajv.compile(whole as AnySchema)(value) as boolean;
}

/** Schemas as [wider, narrower, expected finding]: narrowing breaks requests, widening breaks answers. */
const narrowings: [name: string, wide: Json, narrow: Json, request: string, answer?: string | null][] = [
  ['minLength', text(), text({ minLength: 3 }), 'minLength'],
  ['maxLength', text({ maxLength: 50 }), text({ maxLength: 20 }), 'maxLength'],
  [
    'maxLength beside a pattern',
    text({ pattern: '^[a-z-]+$' }),
    text({ pattern: '^[a-z-]+$', maxLength: 40 }),
    'maxLength',
  ],
  ['pattern', text(), text({ pattern: '^a' }), 'pattern'],
  [
    'one character of a pattern',
    text({ pattern: '^[a-z._-]{1,9}$' }),
    text({ pattern: '^[a-z_-]{1,9}$' }),
    'pattern',
  ],
  ['a count of a pattern', text({ pattern: '^[a-z]{1,90}$' }), text({ pattern: '^[a-z]{1,89}$' }), 'pattern'],
  ['the end of a pattern', text({ pattern: '^a[a-z]{0,9}' }), text({ pattern: '^a[a-z]{0,9}$' }), 'pattern'],
  [
    'a look-ahead of a pattern',
    text({ pattern: '^[a-z]{1,9}$' }),
    text({ pattern: '^(?!x)[a-z]{1,9}$' }),
    'pattern',
  ],
  ['format', text(), text({ format: 'date-time' }), 'format'],
  ['enum', text({ enum: ['a', 'b', 'c'] }), text({ enum: ['a', 'c'] }), 'enum'],
  ['enum of a free text', text(), text({ enum: ['a'] }), 'enum'],
  ['const', text({ enum: ['a', 'b'] }), { const: 'a' }, 'const'],
  ['minimum', { type: 'integer', minimum: 0 }, { type: 'integer', minimum: 1 }, 'minimum'],
  ['maximum', { type: 'integer', maximum: 1000 }, { type: 'integer', maximum: 100 }, 'maximum'],
  [
    'exclusiveMinimum',
    { type: 'number', minimum: 0 },
    { type: 'number', exclusiveMinimum: 0 },
    'exclusiveMinimum',
  ],
  ['exclusiveMaximum', { type: 'number' }, { type: 'number', exclusiveMaximum: 7 }, 'exclusiveMaximum'],
  ['number to integer', { type: 'number' }, { type: 'integer' }, 'type'],
  ['int64 to int32', { type: 'integer', format: 'int64' }, { type: 'integer', format: 'int32' }, 'format'],
  ['another type of several', { type: ['string', 'null'] }, text(), 'type'],
  ['null', { anyOf: [text(), { type: 'null' }] }, text(), 'type'],
  ['a form of several', { anyOf: [text(), { type: 'integer' }] }, { anyOf: [text()] }, 'anyOf'],
  [
    'a bound in a form',
    { anyOf: [text(), { type: 'null' }] },
    { anyOf: [text({ maxLength: 5 }), { type: 'null' }] },
    'maxLength',
  ],
  ['one of', { oneOf: [text(), { type: 'integer' }] }, { oneOf: [{ type: 'integer' }] }, 'anyOf'],
  ['all of', { allOf: [text()] }, { allOf: [text({ enum: ['a'] })] }, 'enum'],
  ['minItems', { type: 'array', items: text() }, { type: 'array', items: text(), minItems: 2 }, 'minItems'],
  [
    'maxItems',
    { type: 'array', items: text(), maxItems: 9 },
    { type: 'array', items: text(), maxItems: 3 },
    'maxItems',
  ],
  [
    'uniqueItems',
    { type: 'array', items: text() },
    { type: 'array', items: text(), uniqueItems: true },
    'uniqueItems',
  ],
  ['anything', {}, { type: 'object' }, 'type'],
  ['required', object({ a: text() }), object({ a: text() }, ['a']), '.a required'],
  ['maxProperties', { type: 'object' }, { type: 'object', maxProperties: 2 }, 'maxProperties'],
  ['minProperties', { type: 'object' }, { type: 'object', minProperties: 1 }, 'minProperties'],
  [
    'values of a map',
    { type: 'object', unevaluatedProperties: {} },
    { type: 'object', unevaluatedProperties: text() },
    '.* type',
  ],
  ['a member', object({ a: text() }), object({ a: text({ maxLength: 2 }) }), '.a maxLength'],
  [
    'a member of an item',
    { type: 'array', items: object({ a: text() }) },
    { type: 'array', items: object({ a: text({ enum: ['a'] }) }) },
    '[].a enum',
  ],
  ['a keyword only Ajv knows', text(), text({ not: { const: 'text' } }), 'not'],
  // Clients ignore unknown members, so only requests break.
  ['a member removed', object({ a: text(), b: text() }), object({ a: text() }), '.b unknown', null],
  ['sealed', { type: 'object' }, { type: 'object', ...sealed }, '.other unknown', null],
  ['no longer ignored', { ...object({}), 'x-ignored': ['id'] }, object({}), '.id unknown', null],
];
const under = (place: string, said: string) => (/^[.[]/.test(said) ? `${place}${said}` : `${place} ${said}`);

describe('a schema that is narrowed', () => {
  it.each(narrowings)('%s: breaks requests', (_, wide, narrow, said) => {
    const [before, after] = [sends(wide), sends(narrow)];
    const found = compare(before, after);
    expect(namesOf(found)).toEqual([under('body', said)]);
    const [{ request } = expect.fail()] = found;
    if (!('x-ignored' in wide)) expect(valid(before, wide, request.body)).toBe(true);
    expect(valid(after, narrow, request.body)).toBe(false);
  });

  it.each(narrowings)('%s: is compatible in answers', (_, wide, narrow) => {
    expect(compare(answers(wide), answers(narrow)).filter(({ certain }) => certain)).toEqual([]);
  });
});

describe('a schema that is widened', () => {
  it.each(narrowings)('%s: breaks answers', (_, wide, narrow, request, said = request) => {
    const [before, after] = [answers(narrow), answers(wide)];
    const found = compare(before, after);
    expect(namesOf(found)).toEqual(said === null ? [] : [under('200.body', said)]);
    for (const { answer } of found) {
      expect(valid(before, narrow, answer?.body)).toBe(false);
      expect(valid(after, wide, answer?.body)).toBe(true);
    }
  });

  it.each(narrowings)('%s: is compatible in requests', (_, wide, narrow) => {
    expect(compare(sends(narrow), sends(wide)).filter(({ certain }) => certain)).toEqual([]);
  });
});
