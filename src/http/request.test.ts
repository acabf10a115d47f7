import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoServer } from './fixture/server.ts';

const thing = '/v1/things/thing_01m7w4n5e0f7drekxj50y51wjg';
let server: Awaited<ReturnType<typeof demoServer>>;
beforeAll(async () => {
  server = await demoServer();
});
afterAll(() => server.close());

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
