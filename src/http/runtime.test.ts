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
