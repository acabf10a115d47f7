/** Runs the generated validators: they accept what the schemas allow. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { parseService } from './contract.ts';
import { root } from './derive.ts';
import { types } from './types.ts';
import { validators } from './validators.ts';

type Validators = Record<string, Record<string, (value: unknown) => boolean>>;

// Generated code loads Ajv's helpers, so it has to be in a place from which they are found.
const cache = join(root, 'node_modules/.cache');
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, 'validators-'));
afterAll(() => rmSync(folder, { recursive: true }));

const serviceOf = (body: object) => {
  const schemas = {
    Named: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    Sized: { type: 'object', properties: { size: { type: 'integer' } } },
    Body: body,
  };
  const requestBody = { content: { 'application/json': { schema: { $ref: '#/components/schemas/Body' } } } };
  const post = { operationId: 'Things_make', requestBody, responses: {} };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Things' },
    paths: { '/things': { post } },
    components: { schemas },
  };
  return parseService('Things', JSON.stringify(document));
};

let count = 0;
async function accepts(body: object, value: unknown): Promise<boolean> {
  const file = join(folder, `${(count += 1)}.mjs`);
  const [[, code]] = validators(serviceOf(body)) as [readonly [string, string]];
  writeFileSync(file, code);
  const module = (await import(pathToFileURL(file).href)) as { validators: Validators };
  return module.validators['Things_make']?.['body']?.(value) ?? expect.fail('no validator');
}

const named = { $ref: '#/components/schemas/Named' };
const sized = { $ref: '#/components/schemas/Sized' };
const known = { name: 'a', size: 1 };

describe.each([
  ['all of', { allOf: [named, sized] }],
  ['any of', { anyOf: [{ allOf: [named, sized] }, { type: 'null' }] }],
  ['one of', { oneOf: [{ allOf: [named, sized] }, { type: 'null' }] }],
  ['a reference', { ...named, properties: { size: { type: 'integer' } } }],
  ['a condition', { if: named, then: sized }],
  ['no composition', { type: 'object', properties: { name: { type: 'string' }, size: { type: 'integer' } } }],
])('an object with %s', (_, schema) => {
  test.each([[false], [{ not: {} }]])(
    'that is sealed by %j takes what its parts know and nothing else',
    async (seal) => {
      const sealed = { ...schema, unevaluatedProperties: seal };
      expect(await accepts(sealed, known)).toBe(true);
      expect(await accepts(sealed, { ...known, other: 1 })).toBe(false);
    },
  );

  test('whose other members have a type takes others of that type alone', async () => {
    const typed = { ...schema, unevaluatedProperties: { type: 'boolean' } };
    expect(await accepts(typed, known)).toBe(true);
    expect(await accepts(typed, { ...known, other: true })).toBe(true);
    expect(await accepts(typed, { ...known, other: 'text' })).toBe(false);
  });

  test('has a type', async () => {
    const service = serviceOf({ ...schema, unevaluatedProperties: { type: 'boolean' } });
    expect(await types(service, { filled: true })).toContain('export type Body =');
  });
});

test('a change of one resource touches the validators of no other', () => {
  const file = (maxLength: number) => {
    const body = (limit?: number) => ({
      content: {
        'application/json': {
          schema: { type: 'object', properties: { name: { type: 'string', maxLength: limit } } },
        },
      },
    });
    const document = {
      openapi: '3.1.0',
      info: { title: 'Things' },
      components: { schemas: {} },
      paths: {
        '/things': { post: { operationId: 'Things_make', requestBody: body(maxLength), responses: {} } },
        '/others': { post: { operationId: 'Others_make', requestBody: body(9), responses: {} } },
      },
    };
    return new Map(validators(parseService('Things', JSON.stringify(document))));
  };
  const [before, after] = [file(5), file(6)];
  const touched = [...before].filter(([path, code]) => after.get(path) !== code).map(([path]) => path);
  expect(touched).toEqual(['validators/Things.js']);
});
