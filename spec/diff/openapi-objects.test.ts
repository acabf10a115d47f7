/** Tests keywords that change together, and every object of OpenAPI 3.1 that can change: no change goes unnoticed. */
import { describe, expect, it } from 'vitest';
import { compare } from './compare.ts';
import type { Document } from './document.ts';
import {
  answers,
  asks,
  documentOf,
  type Json,
  list,
  member,
  number,
  object,
  type SchemaChange,
  sends,
  text,
  type Verdict,
  verdictOf,
} from './testing/verdicts.ts';

/** Small versions of changes that oasdiff has cases for, with their effect on clients. */
const composed: SchemaChange[] = [
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

describe('keywords that change together', { timeout: 30_000 }, () => {
  it.each(composed)('%s', (_, before, after, request, answer) => {
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
