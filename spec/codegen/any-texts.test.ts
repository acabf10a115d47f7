import { expect, test } from 'vitest';
import { anyTextsOf } from './any-texts.ts';
import type { Schema } from './contract.ts';

const any: Schema = { type: 'string', 'x-any-text': true };
const schemas: Record<string, Schema> = { Any: any };

test.each<[Schema, unknown]>([
  [{ type: 'string' }, null],
  [{ $ref: '#/components/schemas/Any' }, true],
  [{ properties: { text: any, name: { type: 'string' } } }, { members: { text: true } }],
  [
    { properties: { messages: { items: { properties: { content: any } } } } },
    { members: { messages: { items: { members: { content: true } } } } },
  ],
])('of %j are %j', (schema, texts) => {
  expect(anyTextsOf(schemas, schema)).toEqual(texts);
});
