import { expect, test } from 'vitest';
import type { Schema } from './contract.ts';
import { momentsOf } from './moments.ts';

const time: Schema = { type: 'string', format: 'date-time' };
const schemas: Record<string, Schema> = {
  Time: time,
  Record: { properties: { at: { $ref: '#/components/schemas/Time' }, name: { type: 'string' } } },
  Tree: { properties: { at: time, children: { items: { $ref: '#/components/schemas/Tree' } } } },
};
const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

test.each<[Schema, unknown]>([
  [{ type: 'string' }, null],
  [time, true],
  [ref('Time'), true],
  [{ anyOf: [ref('Time'), { type: 'null' }] }, true],
  [ref('Record'), { members: { at: true } }],
  [{ items: ref('Record') }, { items: { members: { at: true } } }],
  [{ unevaluatedProperties: ref('Time') }, { values: true }],
  [{ properties: { rows: { items: ref('Time') } } }, { members: { rows: { items: true } } }],
  [{ anyOf: [ref('Record'), { type: 'null' }] }, { members: { at: true } }],
  [ref('Tree'), { members: { at: true } }],
])('of %j are %j', (schema, moments) => {
  expect(momentsOf(schemas, schema)).toEqual(moments);
});

test('a moment that may be another text cannot be told', () => {
  expect(() => momentsOf(schemas, { anyOf: [time, { type: 'string' }] })).toThrow('cannot be told');
});
