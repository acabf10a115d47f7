import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoServer } from './fixture/server.ts';
import { operations } from './fixture/operations.ts';
import { demoService } from './fixture/service.ts';
import { nobody } from './caller.ts';
import { createMetrics } from './metrics.ts';
import { createRuntime } from './runtime.ts';
import { pino } from 'pino';

const thing = '/v1/things/thing_01m7w4n5e0f7drekxj50y51wjg';
let server: Awaited<ReturnType<typeof demoServer>>;
beforeAll(async () => {
  server = await demoServer();
});
afterAll(() => server.close());

describe('routing', () => {
  test('a static path is no id, whatever the method', async () => {
    expect((await server.send('POST', '/v1/things/count')).text).toBe('{"count":0}');
    const wrong = await server.send('DELETE', '/v1/things/count');
    expect([wrong.status, wrong.headers.get('allow'), wrong.message]).toEqual([
      405,
      'POST, OPTIONS',
      'method not allowed',
    ]);
  });

  test('a known path names its methods to another method and to OPTIONS', async () => {
    const refused = await server.send('PATCH', '/v1/things');
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST, GET, HEAD, OPTIONS']);
    const options = await server.send('OPTIONS', '/v1/things', { token: null });
    expect([options.status, options.headers.get('allow'), options.text]).toEqual([
      204,
      'POST, GET, HEAD, OPTIONS',
      '',
    ]);
  });

  test('HEAD is GET without the body', async () => {
    const get = await server.send('GET', thing);
    const head = await server.send('HEAD', thing);
    expect([head.status, head.text, head.headers.get('content-length')]).toEqual([
      200,
      '',
      String(get.text.length),
    ]);
  });

  test('HEAD with an operation of its own says what that says', async () => {
    const { status, headers } = await server.send('HEAD', '/v1/files/abc');
    expect([status, headers.get('content-type'), headers.get('content-length')]).toEqual([
      200,
      'image/png',
      '3',
    ]);
  });

  test('an alias leads to the same operation', async () => {
    const alias = thing.replace('things', 'thingies');
    expect((await server.send('GET', alias)).text).toBe((await server.send('GET', thing)).text);
    expect((await server.send('DELETE', alias)).status).toBe(405);
  });

  test('a parameter that takes slashes may be followed by something fixed, for the methods that know it', async () => {
    expect((await server.send('POST', '/v1/files/a/b%2Fc/lock')).text).toBe('{"locked":"a/b/c"}');
    expect((await server.send('GET', '/v1/files/a/lock')).text).toBe('first second');
    expect((await server.send('POST', '/v1/files/a')).headers.get('allow')).toBe('PUT, GET, HEAD, OPTIONS');
    expect((await server.send('DELETE', '/v1/files/a/lock')).headers.get('allow')).toBe('POST, OPTIONS');
  });

  test('HEAD of a stream ends at once', async () => {
    expect((await server.send('HEAD', '/v1/events')).status).toBe(200);
  });

  test('an unknown path is a 404 in the envelope of the service, outside of services in a plain one', async () => {
    const inside = await server.send('GET', '/v1/nothing');
    expect([inside.status, inside.text]).toEqual([404, '{"error":{"code":404,"message":"path not found"}}']);
    const outside = await fetch(`${server.origin}/nothing`);
    expect([outside.status, await outside.text()]).toEqual([404, '{"error":"path not found"}']);
    const unprefixed = await fetch(`${server.origin}/v1/things?limit=1`);
    expect([unprefixed.status, await unprefixed.text()]).toEqual([
      404,
      '{"error":"path not found, did you mean /demo/v1/things?"}',
    ]);
    expect((await fetch(`${server.origin}/demonstration`)).headers.get('content-type')).toBe(
      'application/json',
    );
  });

  test('a path that is not UTF-8 is a 400', async () => {
    expect(await server.send('GET', '/v1/things/%ff')).toMatchObject({
      status: 400,
      message: 'path: malformed percent-encoding',
    });
  });
});

describe('the start is refused when', () => {
  const start = (change: (handlers: Record<string, object>) => void) => {
    const service = demoService({ created: 0, queued: 0, streams: [], gate: undefined, waiting: 0 });
    const handlers: Record<string, object> = { ...service.handlers };
    change(handlers);
    const mounted = {
      name: 'demo',
      prefix: '',
      service: { ...service, handlers: handlers as typeof service.handlers },
      operations,
      validators: {},
      contract: undefined,
    };
    const log = pino({ level: 'silent' });
    const options = {
      identify: () => nobody,
      operator: { tenant: 'default', app: 'default' },
      metrics: createMetrics(),
      log,
      idempotency: undefined,
    };
    createRuntime([mounted], { ...options, ending: new AbortController().signal });
  };

  test('an operation has no handler', () => {
    expect(() => start((handlers) => delete handlers['Raw'])).toThrow(
      'service demo: no handler for Raw_upload, Raw_download',
    );
  });

  test('a handler has no operation', () => {
    expect(() => start((handlers) => (handlers['Extra'] = { run() {} }))).toThrow(
      'service demo: no operation for Extra_run',
    );
  });
});

describe('answers', () => {
  test('JSON goes out whole, with its length and without an ETag', async () => {
    const { headers, text } = await server.send('GET', thing);
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect([headers.has('etag'), headers.has('x-powered-by')]).toEqual([false, false]);
  });

  test('of several content types it is the first, or the one that the handler says', async () => {
    const usual = await server.send('GET', '/v1/report');
    expect([usual.headers.get('content-type'), usual.text]).toEqual(['text/csv', 'a,b\n']);
    const json = await server.send('GET', '/v1/report?type=application/json');
    expect([json.headers.get('content-type'), json.text]).toEqual(['application/json', '{"a":"b"}']);
    const events = await server.send('GET', '/v1/report?type=text/event-stream');
    expect([events.headers.get('content-type'), events.text]).toEqual([
      'text/event-stream',
      expect.stringContaining('event: change\n'),
    ]);
  });

  test('a 304 has neither body, type nor length', async () => {
    const { status, headers, text } = await server.send('GET', '/v1/files/same');
    expect([
      status,
      headers.get('etag'),
      headers.get('content-type'),
      headers.get('content-length'),
      text,
    ]).toEqual([304, '"1"', null, null, '']);
  });

  test('a 204 has neither body nor length', async () => {
    const deleted = await server.send('DELETE', thing);
    expect([
      deleted.status,
      deleted.text,
      deleted.headers.has('content-length'),
      deleted.headers.has('content-type'),
    ]).toEqual([204, '', false, false]);
  });

  test('a handler may choose another documented status and documented headers', async () => {
    const queued = await server.send('POST', '/v1/things/queue');
    expect([queued.status, queued.headers.get('x-revision'), queued.text]).toEqual([
      202,
      '7',
      '{"queued":true}',
    ]);
    const moved = await server.send('GET', '/v1/files/moved');
    expect([moved.status, moved.headers.get('location'), moved.text]).toEqual([302, '/elsewhere', '']);
  });

  test('bytes and pieces go out as they are', async () => {
    const bytes = await server.send('GET', '/v1/files/bytes');
    expect([bytes.headers.get('content-type'), bytes.text]).toEqual([
      'application/octet-stream',
      '\0\x01\x02',
    ]);
    expect((await server.send('GET', '/v1/files/pieces')).text).toBe('first second');
  });

  test('pieces that fail cut the connection: half an answer must not look whole', async () => {
    await expect(server.send('GET', '/v1/files/broken')).rejects.toThrow();
  });

  test("every response carries the request id, the client's own where it is safe", async () => {
    for (const [method, path] of [
      ['GET', thing],
      ['GET', '/nope'],
      ['DELETE', '/v1/things/count'],
      ['OPTIONS', '/v1/things'],
      ['GET', '/docs'],
      ['GET', '/../healthz'],
    ] as const) {
      expect((await server.send(method, path)).headers.get('x-request-id')).toMatch(/^[\w-]{12,}$/);
    }
    const own = async (id: string) =>
      (await server.send('GET', thing, { headers: { 'x-request-id': id } })).headers.get('x-request-id');
    expect(await own('trace-1.a:b/c+d=')).toBe('trace-1.a:b/c+d=');
    expect(await own('no spaces')).not.toBe('no spaces');
    expect(await own('x'.repeat(129))).not.toBe('x'.repeat(129));
  });
});

describe('what a handler throws', () => {
  test('keeps its kind and its words when it is meant for the client', async () => {
    expect(await server.send('GET', `${thing.slice(0, -1)}z`)).toMatchObject({
      status: 404,
      message: 'thing not found',
    });
    expect(await server.send('POST', '/v1/things', { body: { name: 'taken' } })).toMatchObject({
      status: 409,
      message: 'thing name already exists',
    });
  });

  test('says nothing of the inside when it is not, and is in the log under the request id', async () => {
    const broken = await server.send('POST', '/v1/things', {
      body: { name: 'broken' },
      headers: { 'x-request-id': 'look-here' },
    });
    expect([broken.status, broken.text]).toEqual([500, '{"error":{"code":500,"message":"internal error"}}']);
    const line = server.lines
      .map((text) => JSON.parse(text) as { requestId?: string; err?: object })
      .find(({ requestId, err }) => requestId === 'look-here' && err);
    expect(line).toMatchObject({
      service: 'demo',
      operation: 'Things_create',
      err: { message: expect.stringContaining('failed') },
    });
  });
});

describe('requests', () => {
  test('parameters are coerced and defaults filled in', async () => {
    expect((await server.send('GET', '/v1/things')).text).toBe('{"limit":50,"kind":[]}');
    expect((await server.send('GET', '/v1/things?kind=a%20b&limit=7&kind=c+d')).text).toBe(
      '{"kind":["a b","c d"],"limit":7}',
    );
  });

  test('what was read can be written back: read-only members are dropped', async () => {
    const made = await server.send('POST', '/v1/things', { body: { id: 'thing_x', name: 'a' } });
    expect(JSON.parse(made.text)).toMatchObject({ id: expect.not.stringContaining('x'), name: 'a' });
  });

  test('read-only members and nulls are dropped in the items of a batch, too', async () => {
    const things = [
      { id: 'thing_x', name: 'a', count: null },
      { name: null, parent: null },
    ];
    const body = { things, byName: { a: { id: 'thing_x', name: 'a' } } };
    expect((await server.send('POST', '/v1/things/batch', { body })).text).toBe(
      '{"things":[{"name":"a","note":""},{"note":""}],"byName":{"a":{"name":"a","note":""}}}',
    );
    const wrong = await server.send('POST', '/v1/things/batch', { body: { things: [null] } });
    expect(wrong.message).toBe('things[0]: must be an object');
  });

  test('null gives a default back where there is one', async () => {
    for (const sent of ['application/json', 'application/merge-patch+json']) {
      const put = await server.send('PUT', thing, {
        raw: '{"count":null,"tags":null}',
        headers: { 'content-type': sent },
      });
      expect(JSON.parse(put.text).body).toEqual({ count: 1, tags: [{ key: 'new' }] });
    }
  });

  test('on POST null means absent, on PUT it stays', async () => {
    const made = await server.send('POST', '/v1/things', { body: { name: 'a', note: null, count: null } });
    expect(JSON.parse(made.text)).toMatchObject({ note: '' });
    expect(JSON.parse(made.text)).not.toHaveProperty('count');
    const put = await server.send('PUT', thing, { body: { note: null } });
    expect(JSON.parse(put.text).body).toEqual({ note: null });
  });

  test('forms are read', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(
      (await server.send('POST', '/v1/token', { raw: 'grant_type=a+b%21', headers, token: null })).text,
    ).toBe('{"grant_type":"a b!"}');
  });

  test('other bodies arrive as a stream, slashes of a greedy parameter included', async () => {
    const sent = await server.send('PUT', '/v1/files/a/b%2Fc', {
      raw: new Uint8Array(70_000),
      headers: { 'content-type': 'image/png' },
    });
    expect(sent.text).toBe('{"key":"a/b/c","type":"image/png","size":70000}');
  });

  test.each<
    [what: string, body: Buffer<ArrayBuffer> | undefined, headers: Record<string, string>, text: string]
  >([
    ['none at all', undefined, {}, '{"key":"a","type":null,"size":0}'],
    ['one of no type', Buffer.from('abc'), {}, '{"key":"a","type":null,"size":3}'],
    [
      'an encoded one',
      Buffer.from('abc'),
      { 'content-encoding': 'gzip', 'content-type': 'text/plain; charset=latin1' },
      '{"key":"a","type":"text/plain; charset=latin1","size":3}',
    ],
  ])('a body that is not parsed may be %s', async (_, raw, headers, text) => {
    const sent = await server.send('PUT', '/v1/files/a', { headers, ...(raw && { raw }) });
    expect(sent.text).toBe(text);
  });

  test('a tolerant operation leaves out what it does not know', async () => {
    const { text } = await server.send('GET', '/v1/hello?app_id=default&theme=dark&theme=light', {
      token: null,
    });
    expect(JSON.parse(text)).toEqual({ app_id: 'default', actor: 'anonymous', tenant: 'default' });
  });
});

describe('Idempotency-Key', () => {
  const create = (key: string, name: string) =>
    server.send('POST', '/v1/things', { body: { name }, headers: { 'idempotency-key': key } });

  test('is the key of whom root speaks for', async () => {
    const create = async (subject: string) => {
      const headers = { 'idempotency-key': 'subjects', 'X-Subject-ID': subject };
      return (await server.send('POST', '/v1/things', { body: { name: 'a' }, headers })).text;
    };
    const first = await create('user:1');
    expect(await create('user:1')).toBe(first);
    expect(await create('user:2')).not.toBe(first);
  });

  test('a repeat gets the first answer and does nothing', async () => {
    const first = await create('one', 'a');
    const before = server.state.created;
    const again = await create('one', 'a');
    expect([again.status, again.text, again.headers.get('content-type')]).toEqual([
      201,
      first.text,
      'application/json',
    ]);
    expect(server.state.created).toBe(before);
  });

  test('counts where the answer is a 202, too: nothing is done twice, and the headers are the same', async () => {
    const enqueue = () =>
      server.send('POST', '/v1/things/queue', { headers: { 'idempotency-key': 'queue' } });
    const before = server.state.queued;
    const first = await enqueue();
    const again = await enqueue();
    const told = ({ status, text, headers }: typeof first) => [status, text, headers.get('x-revision')];
    expect([told(first), told(again)]).toEqual([told(first), [202, '{"queued":true}', '7']]);
    expect(server.state.queued).toBe(before + 1);
  });

  test('another body is a conflict', async () => {
    await create('two', 'a');
    expect(await create('two', 'b')).toMatchObject({
      status: 409,
      message: 'idempotency key was used with another body',
    });
  });

  test('an error is not remembered', async () => {
    expect((await create('three', 'broken')).status).toBe(500);
    expect((await create('three', 'a')).status).toBe(201);
  });

  test('an answer with a secret is not kept: the repeat is told what was made', async () => {
    const made = JSON.parse((await create('four', 'secret')).text) as { id: string };
    expect(await create('four', 'secret')).toMatchObject({ status: 409, message: `made ${made.id}` });
  });

  test('keys of another tenant are others', async () => {
    await create('five', 'a');
    const before = server.state.created;
    await server.send('POST', '/v1/things', {
      body: { name: 'a' },
      headers: { 'idempotency-key': 'five', 'x-tenant-id': 'acme' },
    });
    expect(server.state.created).toBe(before + 1);
  });

  test.each(['', 'x'.repeat(256), 'a b'])('a malformed one is a 400: %j', async (key) => {
    expect(await create(key, 'a')).toMatchObject({
      status: 400,
      message: 'Idempotency-Key: must be 1 to 255 visible ASCII characters',
    });
  });
});
