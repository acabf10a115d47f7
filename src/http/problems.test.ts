import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect, test } from 'vitest';
import type { Validate } from './operation.ts';
import { problem } from './problems.ts';

const id = { type: 'string', pattern: '^role_[0-7][0-9a-hjkmnp-tv-z]{25}$' };
const text = { type: 'string', minLength: 1, maxLength: 4 };
const of = (name: string, schema: object, more: object = {}) => ({
  type: 'object',
  properties: { [name]: schema },
  ...more,
});

/** Schema, value and expected message. */
const cases: [schema: object, value: unknown, said: string][] = [
  [of('name', text, { required: ['name'] }), {}, 'name: required'],
  [of('name', text, { additionalProperties: false }), { nmae: 1 }, 'nmae: unknown'],
  [of('name', text, { unevaluatedProperties: false }), { nmae: 1 }, 'nmae: unknown'],
  [of('name', text, { unevaluatedProperties: { not: {} } }), { nmae: 1 }, 'nmae: unknown'],
  [of('name', text), { name: '' }, 'name: must not be empty'],
  [of('name', text), { name: 'toolong' }, 'name: must have at most 4 characters'],
  [of('name', { ...text, minLength: 3 }), { name: 'ab' }, 'name: must have at least 3 characters'],
  [of('name', text), { name: 5 }, 'name: must be a string'],
  [of('name', { type: ['string', 'null'] }), { name: 5 }, 'name: must be a string or null'],
  [of('on', { type: 'boolean' }), { on: 'yes' }, 'on: must be true or false'],
  [of('n', { type: 'integer', minimum: 1, maximum: 9 }), { n: 0 }, 'n: must be at least 1'],
  [of('n', { type: 'integer', minimum: 1, maximum: 9 }), { n: 10 }, 'n: must be at most 9'],
  [of('n', { type: 'integer' }), { n: 1.5 }, 'n: must be an integer'],
  [of('n', { multipleOf: 5 }), { n: 7 }, 'n: must be a multiple of 5'],
  [of('effect', { enum: ['allow', 'deny'] }), { effect: 'x' }, 'effect: must be allow or deny'],
  [
    of('event', { enum: Array.from({ length: 60 }, (_, at) => `e${at}`) }),
    { event: 'x' },
    'event: must be e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, e11 or one of 48 others',
  ],
  [of('kind', { const: 'a' }), { kind: 'b' }, 'kind: must be "a"'],
  [
    of('role_id', id),
    { role_id: 'perm_01m7w4n5e0f7drekxj50y51wjg' },
    'role_id: must be an id that starts with role_',
  ],
  [of('slug', { pattern: '^[a-z]+$' }), { slug: 'A' }, 'slug: must match ^[a-z]+$'],
  [
    of('slug', { pattern: `^(${'a|'.repeat(80)}b)$` }),
    { slug: 'A' },
    'slug: must match the documented pattern',
  ],
  [of('at', { format: 'date-time' }), { at: 'noon' }, 'at: must be a time such as 2026-11-20T09:30:00Z'],
  [of('ip', { format: 'ipv4' }), { ip: 'x' }, 'ip: must be an IPv4 address'],
  [of('host', { format: 'hostname' }), { host: '-' }, 'host: must be a valid hostname'],
  [of('list', { type: 'array', minItems: 1 }), { list: [] }, 'list: must not be empty'],
  [of('list', { type: 'array', maxItems: 1 }), { list: [1, 2] }, 'list: must have at most 1 entry'],
  [of('list', { type: 'array', uniqueItems: true }), { list: [1, 1] }, 'list: entries 0 and 1 are the same'],
  [
    of('parent', { anyOf: [id, { type: 'null' }] }),
    { parent: 'x' },
    'parent: must be an id that starts with role_',
  ],
  [of('parent', { anyOf: [id, { type: 'null' }] }), { parent: 5 }, 'parent: must be a string or null'],
  [
    of('checks', { items: of('action', text, { required: ['action'] }) }),
    { checks: [{ action: 'a' }, {}] },
    'checks[1].action: required',
  ],
  [of('a', of('b', { items: { items: text } })), { a: { b: [['x', 1]] } }, 'a.b[0][1]: must be a string'],
  [of('a/b', of('~c', text)), { 'a/b': { '~c': 1 } }, 'a/b.~c: must be a string'],
  [of('x', text, { additionalProperties: false }), { ['y'.repeat(200)]: 1 }, `${'y'.repeat(63)}…: unknown`],
  [{ type: 'object' }, [], 'body: must be an object'],
  [{ type: 'object', minProperties: 1 }, {}, 'body: must have at least 1 member'],
];

test.each(cases)('%j refuses %j with: %s', (schema, value, said) => {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  const validate = ajv.compile(schema) as Validate;
  expect(validate(value)).toBe(false);
  expect(problem(validate.errors!, 'body')).toBe(said);
});

test('a validator that says nothing still names what it judged', () => {
  expect(problem([], 'query')).toBe('query: not valid');
});
