export const json = (schema: object) => ({ content: { 'application/json': { schema } } });
export const text = { type: 'string' };
export const thing = { $ref: '#/components/schemas/Thing' };
export const failure = (name: string) => ({
  description: `It is ${name}.`,
  ...json({ $ref: `#/components/schemas/${name}` }),
});
export const parameter = (name: string, place: string, more: object = {}) => ({
  name,
  in: place,
  required: place === 'path',
  schema: text,
  ...more,
});
export const list = (schema: object) => ({ type: 'array', items: schema });
export const page = (schema: object, header?: string) => ({
  200: { description: 'A page.', ...(header && { headers: { [header]: {} } }), ...json(schema) },
});
export const envelope = { type: 'object', required: ['error'], properties: { error: text } };

/** One operation of every kind, whether or not a service has one yet. */
export const document = {
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
