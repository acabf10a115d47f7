/**
 * A verdict on each change that oasdiff has a name for, by our promise: a break is a change at which an existing, well-behaved
 * client, or the reader of an answer, fails. The tables are in `catalogue/`.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { compare } from './compare.ts';
import type { Document } from './document.ts';

type Json = Readonly<Record<string, unknown>>;
type Place = (id: string, fragment: Json) => Json;

const json = (schema: unknown) => ({ 'application/json': { schema } });
const sends = (schema: unknown) => ({ requestBody: { content: json(schema) } });
const answers = (schema: unknown) => ({ responses: { '200': { content: json(schema) } } });
const asks = (where: string, name: string, schema: unknown, style?: string) => ({
  parameters: [{ name, in: where, schema, style }],
});
const member = (schema: unknown) => ({ type: 'object', properties: { p: schema } });

/** The place of a schema, according to the beginning of the change's id. */
const places: readonly [RegExp, (schema: Json) => Json][] = [
  [/^request-parameter-property-/, (schema) => asks('query', 'q', member(schema), 'deepObject')],
  [/^request-header-property-/, (schema) => asks('header', 'H', member(schema))],
  [/^request-parameter-/, (schema) => asks('query', 'q', schema)],
  [/^request-body-/, sends],
  [/^request-.*property-/, (schema) => sends(member(schema))],
  [/^response-header-/, (schema) => ({ responses: { '200': { headers: { H: { schema } } } } })],
  [/^response-(body|mediatype)-/, answers],
  [/^response-.*property-/, (schema) => answers(member(schema))],
];

const operation = { operationId: 'Things_make', responses: { '200': {} } };
const path = '/things/{id}';
const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }];

const ofSchema: Place = (id, schema) => {
  const [, place] = places.find(([start]) => start.test(id)) ?? expect.fail(`${id} has no place`);
  return ofOperation(id, place(schema));
};

const ofOperation: Place = (_, { request, answer, ...members }) => ({
  paths: {
    [path]: {
      parameters,
      post: {
        ...operation,
        ...members,
        ...(request ? sends(request) : {}),
        ...(answer ? answers(answer) : {}),
      },
    },
  },
});

const ofDocument: Place = (_, { paths, ...members }) => ({
  ...members,
  paths: { [path]: { parameters, post: operation }, ...(paths as Json | undefined) },
});

/** Returns the rows of a table, one per id. */
function rows(table: string): [id: string, before: Json, after: Json, verdict: string][] {
  const text = readFileSync(new URL(`catalogue/${table}.txt`, import.meta.url), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .flatMap((line) => {
      const [ids = '', before = '', after = '', verdict = ''] = line.split(' | ');
      return ids
        .split(' ')
        .map((id): [string, Json, Json, string] => [
          id,
          JSON.parse(before) as Json,
          JSON.parse(after) as Json,
          verdict,
        ]);
    });
}

function verdictOf(before: Json, after: Json): string {
  const found = compare(before as unknown as Document, after as unknown as Document);
  if (found.length === 0) return 'no break';
  return found.some(({ certain }) => certain) ? 'break' : 'perhaps';
}

describe.each<[string, Place]>([
  ['schemas', ofSchema],
  ['operations', ofOperation],
  ['documents', ofDocument],
])('a change of %s', (table, place) => {
  it.each(rows(table))('%s', (id, before, after, verdict) => {
    expect(verdictOf(place(id, before), place(id, after))).toBe(verdict);
  });
});
