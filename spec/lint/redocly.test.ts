import { describe, expect, it } from 'vitest';
import { findings } from './redocly.ts';

const thing = { type: 'object', properties: { size: { type: 'integer' } }, examples: [{ size: 1 }] };

/** A document without findings. */
const document = {
  openapi: '3.1.0',
  info: { title: 'Things', version: '1', license: { name: 'MIT', identifier: 'MIT' } },
  servers: [{ url: 'http://127.0.0.1:4000/things' }],
  security: [{ Key: [] }],
  tags: [{ name: 'Things', description: 'What is kept.' }],
  paths: {
    '/things': {
      get: {
        operationId: 'Things_get',
        summary: 'Answers the thing',
        description: 'Answers the thing.',
        tags: ['Things'],
        responses: {
          200: {
            description: 'It.',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
          },
          404: { description: 'There is none.' },
        },
      },
    },
  } as Record<string, Record<string, { responses: Record<string, unknown>; security?: unknown[] }>>,
  components: {
    schemas: { Thing: thing } as Record<string, unknown>,
    securitySchemes: { Key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
  },
};

type Document = typeof document;

/** Returns the findings after a change. */
const after = (change: (document: Document) => void, name = 'Things') => {
  const copy = structuredClone(document);
  change(copy);
  return findings(name, JSON.stringify(copy));
};
const get = ({ paths }: Document) => paths['/things']!['get']!;

describe('the lint of the documents', () => {
  it('finds nothing in a document that is as it should be', async () => {
    expect(await after(() => {})).toEqual([]);
  });

  it.each<[string, string, (document: Document) => void]>([
    [
      'a schema that nothing uses',
      'no-unused-components',
      ({ components }) => void (components.schemas['Other'] = thing),
    ],
    [
      'an example that its schema refuses',
      'no-invalid-schema-examples',
      ({ components }) => void (components.schemas['Thing'] = { ...thing, examples: [{ size: 'big' }] }),
    ],
    ['a tag without a description', 'tag-description', ({ tags }) => void (tags[0]!.description = '')],
    [
      'an operation that says nothing of failures',
      'operation-4xx-response',
      (it) => void delete get(it).responses['404'],
    ],
    ['an operation that only fails', 'rule/operation-answer', (it) => void delete get(it).responses['200']],
    [
      'credentials that are nowhere defined',
      'security-defined',
      (it) => void (get(it).security = [{ Password: [] }]),
    ],
    ['a document without an address', 'no-empty-servers', ({ servers }) => void servers.pop()],
  ])('finds %s', async (_, rule, change) => {
    expect((await after(change)).join('\n')).toContain(`Things: ${rule}: `);
  });

  it('finds an exception that is needed no more', async () => {
    expect(await after(() => {}, 'Audit')).toEqual([
      expect.stringContaining('Audit: no-ambiguous-paths: this exception is not needed'),
      expect.stringContaining('Audit: no-unused-components: this exception is not needed'),
    ]);
  });
});
