import { request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoServer, token } from './fixture/server.ts';

const thing = '/v1/things/thing_01m7w4n5e0f7drekxj50y51wjg';
let server: Awaited<ReturnType<typeof demoServer>>;
beforeAll(async () => {
  server = await demoServer();
});
afterAll(() => server.close());

/** Expects a refusal in the service's envelope that names the problem. */
function expectRefusal(response: { status: number; text: string }, status: number, message: string): void {
  expect(JSON.parse(response.text)).toEqual({ error: { code: status, message } });
  expect(response.status).toBe(status);
}

describe('a body is refused', () => {
  const post = (raw: BodyInit, type = 'application/json', headers = {}) =>
    server.send('POST', '/v1/things', { raw, headers: { 'content-type': type, ...headers } });

  test.each<[what: string, body: BodyInit, status: number, message: string]>([
    ['malformed JSON', '{"name":', 400, 'body: not valid JSON'],
    ['an array', '[]', 400, 'body: must be an object'],
    ['null', 'null', 400, 'body: must be an object'],
    ['a text', '"name"', 400, 'body: must be an object'],
    ['a missing member', '{}', 400, 'name: required'],
    ['a wrong type', '{"name":5}', 400, 'name: must be a string'],
    ['a null for a required member', '{"name":null}', 400, 'name: required'],
    ['an empty name', '{"name":""}', 400, 'name: must not be empty'],
    [
      'a name too long',
      '{"name":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}',
      400,
      'name: must have at most 32 characters',
    ],
    ['a number out of bounds', '{"name":"a","count":11}', 400, 'count: must be at most 10'],
    [
      'a number beyond all bounds',
      '{"name":"a","count":1e999}',
      400,
      'count: must be a number of at most 1.7976931348623157e+308 in size',
    ],
    [
      'a number beyond all bounds where any value may stand',
      '{"name":"a","free":{"limits":[{"most":1e400}]}}',
      400,
      'free.limits[0].most: must be a number of at most 1.7976931348623157e+308 in size',
    ],
    ['a member given twice', '{"name":"a","note":"b","name":"c"}', 400, 'name: given more than once'],
    ['an unknown member', '{"name":"a","nmae":"b"}', 400, 'nmae: unknown'],
    [
      'an unknown member further inside',
      '{"name":"a","tags":[{"key":"k"},{"key":"k","x":1}]}',
      400,
      'tags[1].x: unknown',
    ],
    ['a prototype in disguise', '{"name":"a","__proto__":{"admin":true}}', 400, '__proto__: unknown'],
    [
      'an id of another kind',
      '{"name":"a","parent":"role_01m7w4n5e0f7drekxj50y51wjg"}',
      400,
      'parent: must be an id that starts with thing_',
    ],
    ['U+0000', '{"name":"a\\u0000b"}', 400, 'name: must not contain U+0000'],
    ['a plain NUL', '{"name":"a\0b"}', 400, 'body: not valid JSON'],
    ['a lone surrogate', '{"name":"\\udc00"}', 400, 'name: must not contain a lone surrogate'],
    [
      'U+0000 in a member name',
      '{"name":"a","free":{"\\u0000":1}}',
      400,
      'free: a member name: must not contain U+0000',
    ],
    ['bytes that are no UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]), 400, 'body: must be UTF-8'],
    ['nothing', '', 400, 'body: required'],
    ['10 MB', 'x'.repeat(10_000_000), 413, 'body: larger than 1024 bytes'],
    ['one byte too much', `{"name":"a"}${' '.repeat(1013)}`, 413, 'body: larger than 1024 bytes'],
  ])('with %s', async (_, body, status, message) => {
    expectRefusal(await post(body), status, message);
  });

  test('with 10 MB whose length is not said, without reading them all', async () => {
    expectRefusal(await chunked('POST', '/v1/things', 10_000_000), 413, 'body: larger than 1024 bytes');
  });

  test('with 100,000 levels', async () => {
    const deep = `{"ask":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    const refused = await server.send('POST', '/v1/things/constant', {
      raw: deep,
      headers: { 'content-type': 'application/json' },
    });
    expectRefusal(refused, 400, 'body: nested deeper than 64 levels');
  });

  test('with 80,000 members', async () => {
    const refused = await server.send('POST', '/v1/things/constant', {
      raw: `{${Array.from({ length: 80_000 }, (_, index) => `"m${index}":0`).join()}}`,
      headers: { 'content-type': 'application/json' },
    });
    expectRefusal(refused, 400, 'body: must have at most 20000 members and items');
  });

  test.each([
    ['text/plain', {}, 'content-type: must be application/json'],
    ['', {}, 'content-type: must be application/json'],
    ['application/json-patch+json', {}, 'content-type: must be application/json'],
    ['application/x-www-form-urlencoded', {}, 'content-type: must be application/json'],
    ['application/json; charset=latin1', {}, 'content-type: charset must be utf-8'],
    ['application/json', { 'content-encoding': 'gzip' }, 'content-encoding: must be identity'],
  ])('of type %j with %j', async (type, headers, message) => {
    expectRefusal(await post(Buffer.from('{"name":"a"}'), type, headers), 415, message);
  });

  test.each(['application/json; charset=utf-8', 'application/json;charset="UTF-8"', 'Application/JSON'])(
    'but not of type %s',
    async (type) => {
      expect((await post('{"name":"a"}', type)).status).toBe(201);
    },
  );
});

describe('a form is refused', () => {
  const post = (raw: string) =>
    server.send('POST', '/v1/token', {
      raw,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  test.each([
    ['grant_type=a&grant_type=b', 'grant_type: given more than once'],
    ['grant_type=a%00', 'grant_type: must not contain U+0000'],
    ['grant_type=%ff', 'grant_type: malformed percent-encoding'],
    ['grant_typ=a', 'grant_type: required'],
    ['grant_type=a&more=b', 'more: unknown'],
    ['grant_type=a&__proto__=b', '__proto__: unknown'],
  ])('%s', async (form, message) => {
    expectRefusal(await post(form), 400, message);
  });

  test.each([
    ['170,000 parameters', 'a=1&'.repeat(170_000)],
    ['1,001 empty ones', '&'.repeat(1000)],
  ])('with %s', async (_, form) => {
    expectRefusal(await post(form), 400, 'body: must have at most 1000 parameters');
  });
});

describe('a query is refused', () => {
  test.each([
    ['limt=5', 'limt: unknown'],
    ['limit=5&limit=6', 'limit: given more than once'],
    ['limit=many', 'limit: must be an integer'],
    ['limit=0', 'limit: must be at least 1'],
    ['limit=', 'limit: must be an integer'],
    ['limit', 'limit: must be an integer'],
    ['kind=%00', 'kind: must not contain U+0000'],
    ['kind=%ED%A0%80', 'kind: malformed percent-encoding'],
    ['kind=%', 'kind: malformed percent-encoding'],
    ['%00=1', 'query: must not contain U+0000'],
    ['__proto__=1', '__proto__: unknown'],
    ['constructor=1', 'constructor: unknown'],
    [`${'x'.repeat(500)}=1`, `${'x'.repeat(63)}…: unknown`],
  ])('%s', async (query, message) => {
    expectRefusal(await server.send('GET', `/v1/things?${query}`), 400, message);
  });

  test('with 1,001 parameters', async () => {
    const refused = await server.send('GET', `/v1/things?limit=5${'&kind=a'.repeat(1000)}`);
    expectRefusal(refused, 400, 'query: must have at most 1000 parameters');
  });

  test('of an operation that takes none', async () => {
    expectRefusal(await server.send('GET', `${thing}?verbose=1`), 400, 'verbose: unknown');
  });
});

describe('a path parameter is refused', () => {
  test.each([
    ['/v1/things/42', 'thingId: must be an id that starts with thing_'],
    ['/v1/things/role_01m7w4n5e0f7drekxj50y51wjg', 'thingId: must be an id that starts with thing_'],
    ['/v1/things/a%00', 'thingId: must not contain U+0000'],
    [`/v1/things/${'a'.repeat(8_000)}`, 'thingId: must be an id that starts with thing_'],
  ])('%s', async (path, message) => {
    expectRefusal(await server.send('GET', path), 400, message);
  });
});

test('a header parameter is refused by its name', async () => {
  expectRefusal(
    await server.send('GET', '/v1/events', { headers: { 'Last-Event-ID': 'x' } }),
    400,
    'Last-Event-ID: must be an integer',
  );
});

describe('what is not HTTP is answered, and the server goes on', () => {
  test.each([
    ['GARBAGE\r\n\r\n', 400],
    ['GET /demo/v1/things?kind=é HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['GET / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n', 400],
    [`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(40_000)}\r\n\r\n`, 431],
    ['POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
  ])('%j', async (text, status) => {
    const answer = await overSocket(text);
    expect(answer.slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
    expect(answer).toMatch(/^X-Request-ID: [\w-]+\r$/m);
    expect((await server.send('GET', thing)).status).toBe(200);
  });
});

/** Sends a body in chunks, like a client that does not know its length. */
function chunked(method: string, path: string, size: number): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const outgoing = request(server.url + path, { method, headers }, (res) => {
      let text = '';
      res
        .setEncoding('utf8')
        .on('data', (part: string) => (text += part))
        .on('end', () => resolve({ status: res.statusCode!, text }));
    });
    outgoing.on('error', reject);
    for (let sent = 0; sent < size; sent += 50_000) outgoing.write(Buffer.alloc(50_000, 'x'));
    outgoing.end();
  });
}

/** Sends exactly these bytes and returns the response. */
function overSocket(text: string): Promise<string> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    const socket = connect(server.port, '127.0.0.1', () => socket.write(text));
    socket
      .on('data', (part) => parts.push(part))
      .on('error', () => {})
      .on('close', () => resolve(Buffer.concat(parts).toString()));
  });
}
