import { expect, test } from 'vitest';
import type { Schema } from '../../src/mock/contract/document.ts';
import type { ServiceDocument } from './services.ts';
import { boundsOf, quoted, typeWords } from './shapes.ts';

const document = {
  components: {
    schemas: {
      Slug: { type: 'string', minLength: 1, maxLength: 64, pattern: '^[a-z]+$' },
      Role: { type: 'object', properties: { slug: { $ref: '#/components/schemas/Slug' } } },
      Kind: { type: 'string', enum: ['user', 'service'] },
    },
  },
} as unknown as ServiceDocument;

const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

test.each<[Schema, string, string[]]>([
  [{ type: 'integer', minimum: 1, maximum: 1000, default: 50 }, 'integer', ['1 to 1,000', 'default `50`']],
  [{ type: 'number', minimum: 0 }, 'number', ['at least 0']],
  [{ type: 'string', maxLength: 10 }, 'string', ['at most 10 characters']],
  [{ type: 'string', minLength: 4, maxLength: 4 }, 'string', ['exactly 4 characters']],
  [{ type: 'string', format: 'date-time' }, 'date and time', []],
  [{ type: 'string', enum: ['no-store'] }, 'string', ['always `no-store`']],
  [ref('Slug'), 'string', ['1 to 64 characters', 'matches `^[a-z]+$`']],
  [ref('Kind'), 'string', ['one of `user`, `service`']],
  [
    { anyOf: [ref('Slug'), { type: 'null' }], default: null },
    'string or null',
    ['1 to 64 characters', 'matches `^[a-z]+$`', 'default `null`'],
  ],
  [{ anyOf: [ref('Role'), { type: 'boolean' }] }, 'object or boolean', []],
  [
    { type: 'array', items: ref('Kind'), maxItems: 5, uniqueItems: true },
    'list of strings',
    ['at most 5 items', 'no item twice', 'each item: one of `user`, `service`'],
  ],
  [{ type: 'object', unevaluatedProperties: { type: 'string' } }, 'map of strings', []],
  [{ type: 'object', unevaluatedProperties: { not: {} } }, 'object', []],
  [{}, 'any value', []],
])('%j is %s', (schema, words, bounds) => {
  expect(typeWords(document, schema)).toBe(words);
  expect(boundsOf(document, schema)).toEqual(bounds);
});

test('code in Markdown keeps its backticks', () => {
  expect([quoted('a'), quoted('a`b'), quoted(''), quoted(null)]).toEqual([
    '`a`',
    '`` a`b ``',
    '`""`',
    '`null`',
  ]);
});
