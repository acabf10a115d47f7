/** Tests what a changed contract breaks, beside the schemas in it: its operations, parameters, bodies, answers and events. */
import { describe, expect, it } from 'vitest';
import { compare } from './compare.ts';
import type { Document } from './document.ts';
import {
  answers,
  asks,
  documentOf,
  json,
  type Json,
  namesOf,
  object,
  sends,
  text,
} from './testing/contracts.ts';

const query = (schema: Json, more: Json = {}) => asks({ schema, ...more });
const secured = (...ways: string[]) => documentOf({ security: ways.map((way) => ({ [way]: [] })) });
const parts = (greedy: boolean) =>
  documentOf({
    parameters: [
      { name: 'id', in: 'path', required: true, schema: text({ maxLength: 9 }), 'x-greedy': greedy },
    ],
  });
const header = (schema: Json, required: boolean) =>
  documentOf({ responses: { '200': { headers: { ETag: { required, schema } } } } });
const events = (...names: string[]) =>
  documentOf({ 'x-events': Object.fromEntries(names.map((name) => [name, object({ n: text() }, ['n'])])) });
const statuses = (...list: string[]) =>
  documentOf({ responses: Object.fromEntries(list.map((status) => [status, {}])) });
const types = (...list: string[]) =>
  documentOf({ responses: { '200': { content: Object.fromEntries(list.map((type) => [type, {}])) } } });
const bodies = (required: boolean, ...list: string[]) =>
  documentOf({
    requestBody: { required, content: Object.fromEntries(list.map((type) => [type, { schema: text() }])) },
  });
const two = (other: string): Document => ({
  paths: { ...documentOf().paths, ...documentOf({}, {}, other).paths },
});
const plainJson = 'application/json';

const changes: [name: string, before: Document, after: Document, breaks: string[]][] = [
  ['an operation removed', documentOf(), { paths: {} }, ['operation removed']],
  ['an operation at another path', documentOf(), documentOf({}, {}, '/others/{id}'), ['operation removed']],
  [
    'the old path kept as the other spelling',
    documentOf(),
    documentOf({ 'x-alias': '/things/{id}' }, {}, '/others/{id}'),
    [],
  ],
  ['the other spelling removed', documentOf({ 'x-alias': '/others/{id}' }), documentOf(), ['alias removed']],
  ['an operation added', documentOf(), two('/others'), []],
  ['a static path over a parameter', documentOf(), two('/things/all'), ['path.id shadowed']],
  ['a static path that no value could have', documentOf(), two('/things/all-of-them'), []],
  [
    'an operation called otherwise',
    documentOf(),
    documentOf({ operationId: 'Things_create' }),
    ['operation id perhaps'],
  ],

  ['write instead of public', documentOf({ 'x-access': 'public' }), documentOf(), ['access write']],
  ['admin instead of write', documentOf(), documentOf({ 'x-access': 'admin' }), ['access admin']],
  ['write instead of read', documentOf({ 'x-access': 'read' }), documentOf(), ['access write']],
  ['public instead of write', documentOf(), documentOf({ 'x-access': 'public' }), []],
  ['any instead of read', documentOf({ 'x-access': 'read' }), documentOf({ 'x-access': 'any' }), []],
  ['a scheme removed', secured('Bearer', 'Key'), secured('Bearer'), ['security Key']],
  [
    'read instead of write: no scope includes another',
    documentOf(),
    documentOf({ 'x-access': 'read' }),
    ['access read'],
  ],
  [
    'no API keys where a user is needed',
    { ...documentOf({ 'x-access': 'user' }), security: [{ BearerAuth: [] }, { ApiKeyAuth: [] }] },
    { ...documentOf({ 'x-access': 'user' }), security: [{ BearerAuth: [] }] },
    [],
  ],
  ['a scheme added', secured('Bearer'), secured('Bearer', 'Key'), []],
  [
    'the body limit lowered',
    documentOf({ ...bodyOf(), 'x-body-limit': 100 }),
    documentOf({ ...bodyOf(), 'x-body-limit': 99 }),
    ['body limit'],
  ],
  [
    'the body limit raised',
    documentOf({ ...bodyOf(), 'x-body-limit': 99 }),
    documentOf({ ...bodyOf(), 'x-body-limit': 100 }),
    [],
  ],

  ['a query parameter removed', query(text()), asks(null), ['query.q removed']],
  ['a header parameter removed', query(text(), { in: 'header' }), asks(null), ['header.q removed']],
  ['an optional parameter added', asks(null), query(text()), []],
  ['a required parameter added', asks(null), query(text(), { required: true }), ['query.q required']],
  [
    'a parameter that became required',
    query(text()),
    query(text(), { required: true }),
    ['query.q required'],
  ],
  ['a parameter narrowed', query(text({ enum: ['a', 'b'] })), query(text({ enum: ['a'] })), ['query.q enum']],
  ['a text that must be a number', query(text()), query({ type: 'integer' }), ['query.q type']],
  ['a number that may be any text', query({ type: 'integer' }), query(text()), []],
  [
    'a parameter of another default',
    query(text({ default: 'a' })),
    query(text({ default: 'b' })),
    ['query.q default'],
  ],
  ['a parameter that has a default now', query(text()), query(text({ default: 'b' })), []],
  ['a parameter in another place', query(text()), query(text(), { in: 'header' }), ['query.q removed']],
  [
    'a list of fewer',
    query({ type: 'array', items: text() }),
    query({ type: 'array', items: text(), maxItems: 2 }),
    ['query.q maxItems'],
  ],
  [
    'a list written otherwise',
    query({ type: 'array', items: text() }, { explode: false }),
    query({ type: 'array', items: text() }, { explode: true }),
    ['query.q style'],
  ],
  ['a style that a text does not have', query(text(), { explode: false }), query(text()), []],
  ['a greedy parameter that takes one segment', parts(true), parts(false), ['path.id greedy']],
  ['a parameter that became greedy', parts(false), parts(true), []],

  ['a body removed', bodies(true, plainJson), documentOf(), ['body removed']],
  ['a body required', bodies(false, plainJson), bodies(true, plainJson), ['body required']],
  ['a required body added', documentOf(), bodies(true, plainJson), ['body required']],
  ['a body that may be absent', bodies(true, plainJson), bodies(false, plainJson), []],
  ['a content type refused', bodies(true, plainJson, 'text/csv'), bodies(true, plainJson), ['body text/csv']],
  ['any content type taken', bodies(true, 'text/csv'), bodies(true, '*/*'), []],
  [
    'another default',
    sends(object({ a: text({ default: 'x' }) })),
    sends(object({ a: text({ default: 'y' }) })),
    ['body.a default'],
  ],
  [
    'another default deep inside',
    sends(object({ o: object({ a: text({ default: 'x' }) }) })),
    sends(object({ o: object({ a: text() }) })),
    ['body.o.a default'],
  ],
  ['another default in an answer', answers(text({ default: 'x' })), answers(text({ default: 'y' })), []],

  ['a success removed', statuses('200', '201'), statuses('200'), ['201 removed']],
  ['a success added', statuses('200'), statuses('200', '202'), ['202 added perhaps']],
  ['an answer that has to be asked for', statuses('200'), statuses('200', '206', '304'), []],
  ['an error removed or added', statuses('200', '404'), statuses('200', '409'), []],
  [
    'an error of another shape',
    answers(object({ error: text() }, ['error']), '400'),
    answers(object({ message: text() }, ['message']), '400'),
    ['400.body.error required'],
  ],
  [
    'a content type no longer answered',
    types(plainJson, 'text/csv'),
    types(plainJson),
    ['200.body text/csv'],
  ],
  ['a content type also answered', types(plainJson), types(plainJson, 'text/csv'), []],
  ['a header removed', header(text(), true), statuses('200'), ['200.header.ETag required']],
  ['a header that may be absent', header(text(), true), header(text(), false), ['200.header.ETag required']],
  ['a header removed that might be absent', header(text(), false), statuses('200'), []],
  [
    'a header that is any text',
    header({ type: 'integer' }, true),
    header(text(), true),
    ['200.header.ETag type'],
  ],
  ['a header that is a number', header(text(), true), header({ type: 'integer' }, true), []],
  [
    'a header widened',
    header(text({ maxLength: 3 }), true),
    header(text({ maxLength: 4 }), true),
    ['200.header.ETag maxLength'],
  ],
  ['a member of an answer removed', answers(object({ a: text() })), answers(object({})), []],
  ['a member of an answer added', answers(object({})), answers(object({ a: text() }, ['a'])), []],
  [
    'one of several forms that gained a member',
    answers({ oneOf: [object({ a: text() }), object({ b: text() })] }),
    answers({ oneOf: [object({ a: text(), c: text() }), object({ b: text() })] }),
    [],
  ],
  ['an event removed', events('token', 'done'), events('token'), ['event.done removed']],
  ['an event added', events('token'), events('token', 'done'), []],

  [
    'a pattern in other words',
    sends(text({ pattern: '^[0-9]{2}$' })),
    sends(text({ pattern: '^\\d\\d$' })),
    ['body pattern perhaps'],
  ],
  ['words for people', documentOf(), documentOf({ description: 'Makes.', summary: 'x', tags: ['a'] }), []],
  [
    'the name of a path parameter',
    documentOf(),
    documentOf(
      { parameters: [{ name: 'key', in: 'path', required: true, schema: text({ maxLength: 9 }) }] },
      {},
      '/things/{key}',
    ),
    [],
  ],
];

function bodyOf() {
  return { requestBody: { required: true, content: json(text()) } };
}

describe('a contract that changes', () => {
  it.each(changes)('%s', (_, before, after, breaks) => {
    expect(namesOf(compare(before, after))).toEqual(breaks);
  });

  it('is compared through references', () => {
    const item = (maxLength: number) => ({
      Name: text({ maxLength }),
      Item: object({ name: { $ref: '#/components/schemas/Name' } }),
    });
    const using = (maxLength: number) =>
      documentOf({ requestBody: { content: json({ $ref: '#/components/schemas/Item' }) } }, item(maxLength));
    const [found] = compare(using(9), using(8));
    expect(found).toMatchObject({
      place: 'body.name',
      change: 'maxLength',
      request: { body: { name: 'aaaaaaaaa' } },
    });
  });

  it('may contain itself', () => {
    const tree = (maxLength: number) => ({
      Tree: object(
        {
          name: text({ maxLength }),
          children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } },
        },
        ['children'],
      ),
    });
    const using = (maxLength: number) =>
      documentOf(
        { requestBody: { required: true, content: json({ $ref: '#/components/schemas/Tree' }) } },
        tree(maxLength),
      );
    expect(namesOf(compare(using(9), using(8)))).toEqual(['body.name maxLength']);
  });
});
