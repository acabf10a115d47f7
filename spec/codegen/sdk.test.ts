import { beforeAll, describe, expect, it } from 'vitest';
import { parseService } from './contract.ts';
import { sdkFiles } from './sdk.ts';

const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const text = { type: 'string' };
const thing = { $ref: '#/components/schemas/Thing' };
const failure = (name: string) => ({
  description: `It is ${name}.`,
  ...json({ $ref: `#/components/schemas/${name}` }),
});
const parameter = (name: string, place: string, more: object = {}) => ({
  name,
  in: place,
  required: place === 'path',
  schema: text,
  ...more,
});
const envelope = { type: 'object', required: ['error'], properties: { error: text } };

/** One operation of every kind, whether or not a service has one yet. */
const document = {
  openapi: '3.1.0',
  info: { title: 'Things', version: '1', description: 'Keeps things.' },
  paths: {
    '/things': {
      get: {
        operationId: 'Things_list',
        description: 'Lists things.',
        parameters: [
          parameter('cursor', 'query'),
          parameter('offset', 'query', { description: 'How many to skip.' }),
        ],
        responses: { 200: { description: 'A page.', ...json({ type: 'array', items: thing }) } },
      },
      post: {
        operationId: 'Things_create',
        requestBody: { required: true, ...json(thing) },
        responses: {
          200: { description: 'There.', ...json(thing) },
          202: { description: 'Later.', ...json(text) },
          404: failure('Missing'),
          409: failure('Taken'),
        },
      },
    },
    '/things/ask': {
      post: {
        operationId: 'Things_ask',
        'x-access': 'read',
        requestBody: json(thing),
        responses: { 200: { description: 'So.', ...json(thing) } },
      },
    },
    '/pages': {
      get: {
        operationId: 'Things_pages',
        parameters: [parameter('offset', 'query')],
        responses: { 200: { description: 'A page.', ...json({ type: 'array', items: text }) } },
      },
    },
    '/names': {
      get: {
        operationId: 'Things_names',
        responses: { 200: { description: 'All.', ...json({ type: 'array', items: text }) } },
      },
    },
    '/things/{+key}': {
      get: {
        operationId: 'Files_download',
        parameters: [parameter('key', 'path'), parameter('If-None-Match', 'header')],
        responses: { 200: { description: 'It.', content: { 'application/octet-stream': { schema: text } } } },
      },
      put: {
        operationId: 'Files_upload',
        parameters: [parameter('key', 'path')],
        requestBody: { required: true, content: { 'application/octet-stream': { schema: text } } },
        responses: { 204: { description: 'Kept.' } },
      },
    },
    '/events': {
      get: {
        operationId: 'Files_watch',
        'x-events': { changed: thing, token: { $ref: '#/components/schemas/Token' } },
        responses: { 200: { description: 'Events.', content: { 'text/event-stream': { schema: text } } } },
      },
    },
  },
  components: {
    schemas: {
      Thing: {
        type: 'object',
        required: ['name'],
        properties: { name: text, size: { type: 'integer' } },
        examples: [{ name: "Anna's", size: 1 }],
      },
      Token: text,
      Missing: { ...envelope, description: 'Not there.' },
      Taken: { ...envelope, properties: { ...envelope.properties, by: text } },
    },
  },
};

describe('the generated client', () => {
  let things: string;
  let files: string;
  let all: Map<string, string>;
  beforeAll(async () => {
    all = await sdkFiles([parseService('Things', JSON.stringify(document))]);
    things = (all.get('sdk/src/services/things/things.ts') ?? '').replaceAll(/\s+/g, ' ');
    files = (all.get('sdk/src/services/things/files.ts') ?? '').replaceAll(/\s+/g, ' ');
  });

  it('has wire types, a file per resource, an index per service, one for all, and the README', () => {
    expect([...all.keys()]).toEqual([
      'sdk/src/services/things/types.ts',
      'sdk/src/services/things/things.ts',
      'sdk/src/services/things/files.ts',
      'sdk/src/services/things/index.ts',
      'sdk/src/services/index.ts',
      'sdk/README.md',
    ]);
  });

  it.each([
    ['a list by cursor, where it has one', "list: { verb: 'GET', path: '/things', pages: 'cursor' }"],
    ['a list by offset', "pages: { verb: 'GET', path: '/pages', pages: 'offset' }"],
    ['an array that has no pages', "names: { verb: 'GET', path: '/names' }"],
    ['a body', "create: { verb: 'POST', path: '/things', body: 'application/json' }"],
    [
      'a POST that only asks',
      "ask: { verb: 'POST', path: '/things/ask', body: 'application/json', read: true }",
    ],
  ])('knows how to call %s', (_, entry) => {
    expect(things).toContain(entry);
  });

  it.each([
    [
      'a key with slashes, a header and bytes as the answer',
      "download: { verb: 'GET', path: '/things/{+key}', headers: ['If-None-Match'], unread: true }",
    ],
    [
      'bytes as the body',
      "upload: { verb: 'PUT', path: '/things/{+key}', body: 'application/octet-stream' }",
    ],
    [
      'an event stream',
      "watch: { verb: 'GET', path: '/events', events: { changed: 'json', token: 'text' } }",
    ],
  ])('knows how to call for %s', (_, entry) => {
    expect(files).toContain(entry);
  });

  it.each([
    ['lists and their items', ') => List<T.Thing, unknown>'],
    ['several successes', ') => Answer<T.Thing | string, T.Error | T.Taken>'],
    ['arrays', ') => Answer<Array<string>, unknown>'],
    ['optional bodies', 'body?: T.Thing | undefined'],
    ['parameters, with what they mean', '/** How many to skip. */ offset?: string | undefined;'],
  ])('types %s', (_, type) => {
    expect(things).toContain(type);
  });

  it.each([
    ['unread answers', ') => Answer<Response, unknown>'],
    ['raw bodies', 'body: BodyInit;'],
    ['no answer', ') => Answer<void, unknown>'],
    [
      'events',
      "{ event: 'changed'; id?: string; data: T.Thing } | { event: 'token'; id?: string; data: T.Token }",
    ],
    ['the options of streams', 'options?: EventOptions'],
  ])('types %s of files', (_, type) => {
    expect(files).toContain(type);
  });

  it('shows each call with the members that it needs, from the examples of the contract', () => {
    expect(things).toContain("* await plinth.things.things.create({ body: { name: 'Anna\\'s' } });");
    expect(all.get('sdk/README.md')).toContain(
      'await plinth.things.things.create({ body: { name: "Anna\'s" } });',
    );
  });

  it('refuses a resource that is named like a schema, since both are exported', async () => {
    const { components } = document;
    const clash = { ...document, components: { schemas: { ...components.schemas, Files: thing } } };
    await expect(sdkFiles([parseService('Things', JSON.stringify(clash))])).rejects.toThrow('Files is both');
  });
});
