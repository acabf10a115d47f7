import { beforeAll, describe, expect, it } from 'vitest';
import { parseService } from './contract.ts';
import { sdkFiles } from './sdk.ts';
import { lowerFirst } from './source.ts';

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
const list = (schema: object) => ({ type: 'array', items: schema });
const page = (schema: object, header?: string) => ({
  200: { description: 'A page.', ...(header && { headers: { [header]: {} } }), ...json(schema) },
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
        responses: page(list(thing), 'X-Next-Cursor'),
      },
      post: {
        operationId: 'Things_create',
        requestBody: { required: true, ...json(thing) },
        responses: {
          200: { description: 'There.', ...json(thing) },
          202: { description: 'Later.', ...json(text) },
          204: { description: 'Nothing.' },
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
        responses: page(list(text)),
      },
    },
    '/wrapped': {
      get: {
        operationId: 'Things_wrapped',
        parameters: [parameter('offset', 'query')],
        responses: page({ $ref: '#/components/schemas/Page' }),
      },
    },
    '/listing': {
      get: {
        operationId: 'Things_listing',
        parameters: [parameter('cursor', 'query')],
        responses: page({ properties: { folders: list(text), files: list(thing), next_cursor: text } }),
      },
    },
    '/marked': {
      get: {
        operationId: 'Things_marked',
        parameters: [
          parameter('cursor', 'query'),
          parameter('tag', 'query', { schema: list(text), explode: false }),
          parameter('Idempotency-Key', 'header'),
        ],
        responses: page({ properties: { files: list(thing) } }, 'X-Next-Cursor'),
      },
      patch: {
        operationId: 'Things_mark',
        'x-access': 'public',
        requestBody: { required: true, content: { 'application/merge-patch+json': { schema: thing } } },
        responses: { 200: { description: 'So.', ...json(thing) }, 304: { description: 'As it was.' } },
      },
    },
    '/names': {
      get: {
        operationId: 'Things_names',
        responses: page(list(text)),
      },
    },
    '/things/{+key}': {
      get: {
        operationId: 'Files_download',
        parameters: [parameter('key', 'path'), parameter('If-None-Match', 'header')],
        responses: { 200: { description: 'It.', content: { 'application/octet-stream': { schema: text } } } },
      },
      head: {
        operationId: 'Files_head',
        parameters: [parameter('key', 'path')],
        responses: { 200: { description: 'About it.' } },
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
      post: {
        operationId: 'Files_kept',
        'x-events': { changed: thing },
        responses: {
          200: {
            description: 'Events.',
            content: { 'text/event-stream': { schema: text }, 'application/json': { schema: list(thing) } },
          },
        },
      },
    },
    '/socket': {
      get: { operationId: 'Sockets_open', responses: { 101: { description: 'A WebSocket.' } } },
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
      Page: {
        properties: { data: list(thing), pagination: { properties: { has_more: { type: 'boolean' } } } },
      },
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

  it('has wire types, a file per resource, an index and a page per service, one for all, and the README', () => {
    expect([...all.keys()]).toEqual([
      'sdk/src/services/things/types.ts',
      'sdk/src/services/things/things.ts',
      'sdk/src/services/things/files.ts',
      'sdk/src/services/things/index.ts',
      'sdk/src/services/index.ts',
      'sdk/docs/things.md',
      'sdk/README.md',
    ]);
  });

  it.each([
    ['a list by cursor, where it has one', "list: { verb: 'GET', path: '/things', pages: 'cursor' }"],
    ['a list by offset', "pages: { verb: 'GET', path: '/pages', pages: 'offset' }"],
    [
      'a list in an envelope that says whether more follow',
      "wrapped: { verb: 'GET', path: '/wrapped', pages: 'offset', items: 'data', more: 'pagination.has_more' }",
    ],
    [
      'a list whose cursor is in its body, of the records among its arrays',
      "listing: { verb: 'GET', path: '/listing', pages: 'cursor', items: 'files', cursor: 'next_cursor' }",
    ],
    [
      'a list in an envelope whose cursor is a header, by tags in one parameter',
      "marked: { verb: 'GET', path: '/marked', joined: ['tag'], pages: 'cursor', items: 'files' }",
    ],
    [
      'a merge patch',
      "mark: { verb: 'PATCH', path: '/marked', body: 'application/merge-patch+json', empty: [304] }",
    ],
    ['an array that has no pages', "names: { verb: 'GET', path: '/names' }"],
    ['a body', "create: { verb: 'POST', path: '/things', body: 'application/json', empty: [204] }"],
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
      "upload: { verb: 'PUT', path: '/things/{+key}', body: 'application/octet-stream', empty: [204] }",
    ],
    ['headers alone', "head: { verb: 'HEAD', path: '/things/{+key}', unread: true }"],
    [
      'an event stream that is JSON too',
      "kept: { verb: 'POST', path: '/events', events: { changed: 'json' }, recorded: true }",
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
    ['several successes', ') => Answer<T.Thing | string | undefined, T.Error | T.Taken>'],
    ['lists in envelopes', ') => List<T.Thing, unknown, T.Page>'],
    ['what may not have changed', ') => Answer<T.Thing | undefined, unknown>'],
    ['arrays', ') => Answer<Array<string>, unknown>'],
    ['optional bodies', 'body?: T.Thing | undefined'],
    ['parameters, with what they mean', '/** How many to skip. */ offset?: string | undefined;'],
  ])('types %s', (_, type) => {
    expect(things).toContain(type);
  });

  it.each([
    ['unread answers', ') => Answer<Response, unknown>'],
    ['raw bodies', 'body: RawBody;'],
    [
      'recorded events',
      "RecordedStream<{ event: 'changed'; id?: string; data: T.Thing }, Array<T.Thing>, unknown>",
    ],
    ['no answer', ') => Answer<void, unknown>'],
    [
      'events',
      "{ event: 'changed'; id?: string; data: T.Thing } | { event: 'token'; id?: string; data: T.Token }",
    ],
    ['the options of streams', 'options?: EventOptions, ) => EventStream<'],
    ['the options of streams that cannot go on', 'options?: RequestOptions, ) => RecordedStream<'],
  ])('types %s of files', (_, type) => {
    expect(files).toContain(type);
  });

  it('shows each call with the members that it needs, from the examples of the contract', () => {
    expect(things).toContain("* await plinth.things.things.create({ body: { name: 'Anna\\'s' } });");
    expect(all.get('sdk/docs/things.md')).toContain(
      'await plinth.things.things.create({ body: { name: "Anna\'s" } });',
    );
    expect(files).toContain(
      "* await plinth.things.files.upload({ key: 'text', body: new Blob(['Hello'], { type: 'text/plain' }) });",
    );
  });

  it('says what needs no credentials, and leaves out what an option of the call says', () => {
    expect(things).toContain('`PATCH /marked`, which needs no credentials');
    expect(things).not.toContain('Idempotency-Key');
  });

  it('has no method for a WebSocket, which the README names instead', () => {
    expect(all.has('sdk/src/services/things/sockets.ts')).toBe(false);
    expect(all.get('sdk/README.md')).toContain('`GET /things/socket`');
  });

  it('refuses a list that takes a cursor and never gives one', async () => {
    const { paths } = document;
    const { get } = paths['/marked'];
    const blind = { ...document, paths: { '/marked': { get: { ...get, responses: page(list(text)) } } } };
    await expect(sdkFiles([parseService('Things', JSON.stringify(blind))])).rejects.toThrow('answers none');
  });

  it('takes undefined for what may be left out of a request, but says exactly what an answer has', async () => {
    const optional = { type: 'object', properties: { size: { type: 'integer' } } };
    const paths = {
      '/r': {
        post: {
          operationId: 'R_ask',
          requestBody: json({ $ref: '#/components/schemas/Question' }),
          responses: { 200: { description: 'So.', ...json({ $ref: '#/components/schemas/Reply' }) } },
        },
      },
    };
    const components = { schemas: { Error: envelope, Question: optional, Reply: optional } };
    const one = parseService('Things', JSON.stringify({ ...document, paths, components }));
    const text = (await sdkFiles([one])).get('sdk/src/services/things/types.ts');
    expect(text?.match(/size\?: .*;/g)).toEqual(['size?: number | undefined;', 'size?: number;']);
  });

  it('refuses a resource that is named like a schema, since both are exported', async () => {
    const { components } = document;
    const clash = { ...document, components: { schemas: { ...components.schemas, Files: thing } } };
    await expect(sdkFiles([parseService('Things', JSON.stringify(clash))])).rejects.toThrow('Files is both');
  });

  it('refuses a resource that hides a type of the platform', async () => {
    const paths = {
      '/r': { get: { operationId: 'Response_get', responses: { 204: { description: 'Nothing.' } } } },
    };
    const clash = parseService('Things', JSON.stringify({ ...document, paths }));
    await expect(sdkFiles([clash])).rejects.toThrow('Response hides');
  });

  it.each([
    ['ResourceTypes', 'resourceTypes'],
    ['OAuth', 'oauth'],
    ['OAuthClients', 'oauthClients'],
    ['MFA', 'mfa'],
    ['APIKeys', 'apiKeys'],
    ['OpenApi', 'openApi'],
  ])('calls the resource %s %s', (resource, name) => {
    expect(lowerFirst(resource)).toBe(name);
  });
});
