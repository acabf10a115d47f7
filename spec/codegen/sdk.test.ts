import { beforeAll, describe, expect, it } from 'vitest';
import { parseService } from './contract.ts';
import { sdkFiles } from './sdk.ts';
import { lowerFirst } from './source.ts';
import { document, envelope, json, list, page, text, thing } from './testing/things.ts';

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

  it('has members that are written by hand beside the generated ones', async () => {
    const jobs = await sdkFiles([parseService('Jobs', JSON.stringify(document))]);
    const index = jobs.get('sdk/src/services/jobs/index.ts');
    expect(index).toContain("import { workerOf, type CreateWorker } from '../../runtime/worker/lazy.ts';");
    expect(index).toContain('  readonly worker: CreateWorker;\n}');
    expect(index).toContain('  worker: workerOf(client),\n});');
    expect(all.get('sdk/src/services/things/index.ts')).not.toContain('worker');
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
