import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseService, structured } from './contract.ts';
import { interfaces } from './interfaces.ts';

const text = { schema: { type: 'string' } };
const operation = (id: string, more: object = {}) => ({ operationId: id, responses: {}, ...more });

function parsed(paths: object, schemas: object = {}) {
  const document = { info: { title: 'Demo' }, paths, components: { schemas } };
  return parseService('Demo', JSON.stringify(document));
}
const only = (path: string, verb: string, raw: object) => parsed({ [path]: { [verb]: raw } }).operations[0]!;

describe('an operation', () => {
  test('may answer in several forms, the usual one first', () => {
    const responses = {
      200: { description: 'It.', content: { 'text/csv': text, 'application/json': text } },
      304: { description: 'Unchanged.' },
    };
    const { responses: read } = only('/a', 'get', operation('A_get', { responses }));
    expect(
      read.map(({ status, content }) => [status, content.map(({ contentType }) => contentType)]),
    ).toEqual([
      [200, ['text/csv', 'application/json']],
      [304, []],
    ]);
  });

  test('may have an alias, and a parameter that takes slashes in the middle of its path', () => {
    const parameters = [{ name: 'id', in: 'path', required: true, schema: {}, 'x-greedy': true }];
    const read = only('/a/{id}/lock', 'post', operation('A_lock', { parameters, 'x-alias': '/b/{id}/lock' }));
    expect([read.path, read.aliases]).toEqual(['/a/{+id}/lock', ['/b/{id}/lock']]);
  });

  test('is repeatable where the frame reads the key, and cannot be marked so where it does not', () => {
    const key = { name: 'Idempotency-Key', in: 'header', required: false, schema: {}, 'x-frame': true };
    const read = only('/a', 'post', operation('A_go', { parameters: [key], 'x-repeatable': true }));
    expect([read.repeatable, read.parameters]).toEqual([true, []]);
    expect(() => only('/a', 'post', operation('A_go', { 'x-repeatable': true }))).toThrow(
      'A_go: @repeatable needs a POST that documents a 409',
    );
  });

  test('answers a failure of the database with 503, unless its service says otherwise', () => {
    const document = (more: object) => ({
      ...{ info: { title: 'Demo' }, components: { schemas: {} }, ...more },
      paths: { '/a': { get: operation('A_get', { responses: { 503: {} } }), put: operation('A_put') } },
    });
    const read = (more: object) =>
      parseService('Demo', JSON.stringify(document(more))).operations.map(({ storeFailure }) => storeFailure);
    expect([read({}), read({ 'x-store-failure': 500 })]).toEqual([
      [undefined, undefined],
      [500, undefined],
    ]);
  });

  test('has a type for what its handler returns beside JSON: a stream of JSON, lines, and a connection', () => {
    const schema = { $ref: '#/components/schemas/Thing' };
    const answer = (type: string) => ({ 200: { description: '', content: { [type]: { schema } } } });
    const prefixed = { prefix: 'X-Meta-', member: 'metadata', count: 1, bytes: 1 };
    const text = interfaces(
      parsed(
        {
          '/a': { get: operation('A_all', { responses: answer('application/json'), 'x-streamed': true }) },
          '/b': {
            get: operation('A_lines', { responses: answer('application/x-ndjson'), 'x-lines': schema }),
          },
          '/c': { get: operation('A_feed', { responses: { 101: { description: '' } } }) },
          '/d': { get: operation('A_put', { 'x-prefixed-headers': prefixed }) },
        },
        { Thing: {} },
      ),
    );
    expect(text).toContain('Promise<Streamed<T.Thing>>');
    expect(text).toContain('Promise<AsyncIterable<T.Thing>>');
    expect(text).toContain('Promise<TakeOver>');
    expect(text).toContain('request: { metadata: Record<string, string> }');
  });

  test.each([
    ['public', [{}, { BearerAuth: [] }], true],
    ['public', [{}, { BasicAuth: [] }], false],
    ['public', [{}], false],
    ['user', [{ BearerAuth: [] }], false],
  ])('that is %s with %j takes optional credentials: %j', (access, security, expected) => {
    const read = only('/a', 'get', operation('A_get', { 'x-access': access, security }));
    expect(read.optionalCredentials).toBe(expected);
  });
});

test.each([
  [undefined, false],
  ['^[A-Za-z0-9._-]+$', false],
  ['^ten_[0-7][0-9a-hjkmnp-tv-z]{25}$', true],
])('tenants that match %s are resources of the service: %j', (pattern, expected) => {
  expect(parsed({}, pattern === undefined ? {} : { TenantId: { pattern } }).ownTenants).toBe(expected);
});

describe('a body', () => {
  test.each(['application/json', 'application/merge-patch+json', 'application/x-www-form-urlencoded'])(
    'of %s is parsed',
    (type) => {
      expect(structured({ 'text/plain': text, [type]: text })).toBe(text);
    },
  );

  test('of any other type is handed on', () => {
    expect(structured({ '*/*': text, 'text/csv': text, 'application/jsonl': text })).toBeUndefined();
  });

  test('has one schema, however it is written', () => {
    const number = { schema: { type: 'number' } };
    expect(() => structured({ 'application/json': text, 'application/merge-patch+json': number })).toThrow(
      'application/json and application/merge-patch+json have to have the same schema',
    );
  });
});

const compiled = new URL('../../tsp-output/openapi/', import.meta.url);

describe.each(readdirSync(compiled))('the document %s', (file) => {
  const text = readFileSync(new URL(file, compiled), 'utf8');
  const { schemas, operations, openapi } = parseService(file.replace('.json', ''), text);

  test('has no schema a second time for the items of arrays', () => {
    const twice = Object.keys(schemas).filter((name) => {
      const alone = schemas[name.replace(/Item$/, '')];
      return name.endsWith('Item') && JSON.stringify(schemas[name]) === JSON.stringify(alone);
    });
    expect(twice).toEqual([]);
  });

  test('offers no API key for what only users may do', () => {
    const paths = openapi['paths'] as Record<string, Record<string, { security?: unknown }>>;
    const offered = operations
      .filter(({ access }) => access === 'user')
      .map(({ path, verb }) => paths[path]?.[verb.toLowerCase()]?.security);
    expect(offered).toEqual(offered.map(() => [{ BearerAuth: [] }]));
  });
});
