import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { base, filesOf, pathOf, putting, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({
    services: ['storage'],
    env: { PLINTH_STORAGE_MAX_OBJECT_BYTES: '1000000', PLINTH_STORAGE_IDLE_TIMEOUT: '1s' },
  });
  api = tools(server);
  await api.bucket('photos');
  await server.db.sql`insert into plinth.relay_positions (service, consumer) values ('storage', 'test')`;
});
afterAll(() => server.close());

const put = (
  key: string,
  headers: Record<string, string> = {},
  content: string | Buffer = 'x',
  bucket = 'photos',
) => server.request('PUT', base + pathOf(bucket, key), putting(content, { headers }));
const times = <T>(count: number, run: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => run(n)));

describe('conditions of a write', () => {
  it('let one of many simultaneous creations win', async () => {
    for (let round = 0; round < 10; round++) {
      const answers = await times(4, (n) => put(`create/${round}`, { 'if-none-match': '*' }, `content ${n}`));
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 412, 412, 412]);
    }
  });

  it('never lose an increment', async () => {
    await api.put('photos', 'counter', '0');
    const increment = async (): Promise<void> => {
      const { text, headers } = await api.send('GET', pathOf('photos', 'counter'));
      const { status } = await put('counter', { 'if-match': headers.get('etag')! }, String(Number(text) + 1));
      if (status === 412) return await increment();
      expect(status).toBe(200);
    };
    await times(12, increment);
    expect((await api.send('GET', pathOf('photos', 'counter'))).text).toBe('12');
  });

  it('are judged for objects that are there and for those that are not', async () => {
    const { etag, last_modified } = await api.put('photos', 'there', 'abc');
    const before = new Date(Date.parse(last_modified) - 10_000).toUTCString();
    const judged = async (key: string, headers: Record<string, string>) =>
      (await put(key, headers, 'abc')).status;
    expect(await judged('absent', { 'if-match': '*' })).toBe(412);
    expect(await judged('absent', { 'if-match': etag })).toBe(412);
    expect(await judged('there', { 'if-match': '*' })).toBe(200);
    expect(await judged('there', { 'if-match': `"x", ${etag}` })).toBe(200);
    expect(await judged('there', { 'if-match': `W/${etag}` })).toBe(412);
    expect(await judged('there', { 'if-none-match': etag })).toBe(412);
    expect(await judged('there', { 'if-none-match': '"x"' })).toBe(200);
    expect(await judged('there', { 'if-unmodified-since': before })).toBe(412);
    expect(await judged('there', { 'if-unmodified-since': 'Sat, 01 Jan 0000 00:00:00 GMT' })).toBe(200);
    const late = { headers: { 'if-unmodified-since': before } };
    for (const [method, path, body] of [
      ['DELETE', pathOf('photos', 'there'), undefined],
      ['PATCH', pathOf('photos', 'there'), { metadata: {} }],
      ['POST', '/buckets/photos/copy', { key: 'there', source_key: 'there', metadata_directive: 'replace' }],
    ] as const)
      expect(await api.refusal(method, path, { ...late, body })).toEqual([412, 'precondition failed']);
    expect(await judged('there', { 'if-match': 'abc' })).toBe(400);
    const refused = (key: string, tags: string) =>
      api.refusal('DELETE', pathOf('photos', key), { headers: { 'if-match': tags } });
    expect(await refused('there', '"x"')).toEqual([412, 'precondition failed']);
    expect(await refused('absent', '"x"')).toEqual([404, 'object not found']);
    const same = { headers: { 'if-none-match': etag } };
    expect(await api.refusal('DELETE', pathOf('photos', 'there'), same)).toEqual([
      412,
      'precondition failed',
    ]);
    expect(
      (await api.send('DELETE', pathOf('photos', 'there'), { headers: { 'if-match': etag } })).status,
    ).toBe(204);
  });
});

describe('limits of a bucket', () => {
  it('refuse other content types, and objects that are too large', async () => {
    await api.bucket('limited', { allowed_content_types: ['image/*', 'text/plain'], max_object_bytes: 10 });
    const refused = (type: string, content: string) =>
      api.refusal('PUT', pathOf('limited', 'x'), putting(content, { headers: { 'content-type': type } }));
    expect(await refused('text/html', 'x')).toEqual([415, 'content type is not allowed in this bucket']);
    expect(await refused('image/png', '12345678901')).toEqual([413, 'object too large: at most 10 bytes']);
    await api.put('limited', 'x', 'x', { headers: { 'content-type': 'Image/PNG; a=b' } });
    await api.put('limited', 'x', 'x', { headers: { 'content-type': 'text/plain; charset=utf-8' } });
    const html = { key: 'y', source_key: 'x', metadata_directive: 'replace', content_type: 'text/html' };
    expect(await api.refusal('POST', '/buckets/limited/copy', { body: html })).toEqual([
      415,
      'content type is not allowed in this bucket',
    ]);
    expect(await refused('nonsense', 'x')).toEqual([
      400,
      expect.stringMatching(/^Content-Type: must be a media type/),
    ]);
  });

  it('count bytes and objects exactly, however many writers come at once', async () => {
    await api.bucket('full', { quota_bytes: 1000, quota_objects: 8 });
    const answers = await times(50, (n) => put(`${n}`, {}, 'x'.repeat(150), 'full'));
    expect(answers.filter(({ status }) => status === 201).length).toBe(6);
    const refused = answers.filter(({ status }) => status !== 201);
    for (const { status, body } of refused)
      expect([status, body]).toEqual([413, { error: 'bucket quota exceeded', code: 413 }]);
    const usage = async () => (await api.send('GET', '/buckets/full')).body.usage;
    expect(await usage()).toEqual({ bytes: 900, objects: 6, upload_bytes: 0 });
    const kept = answers.findIndex(({ status }) => status === 201);
    await api.put('full', `${kept}`, 'x'.repeat(250));
    await api.put('full', `${kept}`, '');
    await api.put('full', 'seventh', '');
    await api.put('full', 'eighth', '');
    expect((await put('ninth', {}, '', 'full')).status).toBe(413);
    await api.send('DELETE', pathOf('full', 'eighth'));
    await api.put('full', 'ninth', '');
    expect(await usage()).toEqual({ bytes: 750, objects: 8, upload_bytes: 0 });
    const [{ count }] = await server.db.sql<[{ count: number }]>`
      select count(*)::int from storage.outbox where type = 'storage.quota.exceeded' and subject = 'full'`;
    expect(count).toBe(1);
  });

  it('of the tenant hold across its buckets, and large content is refused before it is sent', async () => {
    const tenant = 'small';
    await api.send('PUT', '/admin/tenants/small/quota', { body: { quota_bytes: 100_000, quota_objects: 0 } });
    for (const name of ['one', 'two']) await api.bucket(name, {}, { tenant });
    await api.put('one', 'a', Buffer.alloc(60_000), { tenant });
    expect(await api.refusal('PUT', pathOf('two', 'a'), putting(Buffer.alloc(60_000), { tenant }))).toEqual([
      413,
      'tenant quota exceeded',
    ]);
    const body = { source_bucket: 'one', source_key: 'a', key: 'b' };
    expect(await api.refusal('POST', '/buckets/two/copy', { tenant, body })).toEqual([
      413,
      'tenant quota exceeded',
    ]);
    expect((await api.send('GET', '/admin/tenants/small/quota')).body).toEqual({
      ...{ tenant_id: tenant, quota_bytes: 100_000, quota_objects: 0, used_bytes: 60_000, used_objects: 1 },
    });
    expect(await api.refusal('GET', '/admin/tenants/small/quota', { tenant })).toEqual([403, 'forbidden']);
  });
});

/** Sends a PUT whose body the test writes itself. */
function sending(key: string, headers: Record<string, string | number>) {
  const { hostname, port } = new URL(server.url);
  const sent = request({
    ...{ hostname, port, method: 'PUT', path: base + pathOf('photos', key) },
    headers: { authorization: `Bearer ${server.rootToken}`, 'content-type': 'text/plain', ...headers },
  });
  const answer = new Promise<[status: number, body: string]>((resolve, reject) => {
    sent.on('error', reject).on('response', (response) => {
      let text = '';
      response.on('data', (piece: Buffer) => (text += piece.toString()));
      response.on('end', () => resolve([response.statusCode!, text]));
      response.on('error', reject);
    });
  });
  return { sent, answer };
}

describe('a body', () => {
  it('that ends early stores nothing and leaves no file', async () => {
    const before = await filesOf(server);
    const { sent, answer } = sending('aborted', { 'content-length': 500_000 });
    answer.catch(() => {});
    sent.write(randomBytes(200_000));
    await expect.poll(async () => (await filesOf(server)).length).toBe(before.length + 1);
    sent.destroy();
    await expect.poll(() => filesOf(server)).toEqual(before);
    expect(await api.refusal('GET', pathOf('photos', 'aborted'))).toEqual([404, 'object not found']);
    await expect.poll(async () => (await api.send('GET', '/admin/stats')).body.active_transfers).toBe(0);
  });

  it('that stalls is a 408', async () => {
    const { sent, answer } = sending('stalled', { 'content-length': 500_000 });
    sent.write('x');
    expect(await answer).toEqual([408, '{"error":"body stalled","code":408}']);
    sent.destroy();
  });

  it('that is too large is refused before it is sent, when the client waits for that', async () => {
    const { sent, answer } = sending('large', {
      'content-length': 5 * 1024 ** 3 + 1,
      expect: '100-continue',
    });
    let asked = false;
    sent.on('continue', () => (asked = true));
    sent.flushHeaders();
    expect(await answer).toEqual([413, '{"error":"object too large: at most 1000000 bytes","code":413}']);
    expect(asked).toBe(false);
    sent.destroy();
  });

  it('of a condition that fails is not asked for either', async () => {
    await api.put('photos', 'exists', 'x');
    const { sent, answer } = sending('exists', {
      ...{ 'content-length': 100_000, expect: '100-continue', 'if-none-match': '*' },
    });
    let asked = false;
    sent.on('continue', () => (asked = true));
    sent.flushHeaders();
    expect(await answer).toEqual([412, '{"error":"precondition failed","code":412}']);
    expect(asked).toBe(false);
    sent.destroy();
  });

  it('that is refused in the middle is read to its end, for clients that read nothing before they have sent it', async () => {
    const { port } = new URL(server.url);
    await api.bucket('tiny', { max_object_bytes: 100_000 });
    const socket = connect(Number(port), '127.0.0.1');
    const head = `PUT ${base}${pathOf('tiny', 'unread')} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${server.rootToken}\r\n`;
    socket.write(`${head}Content-Type: a/b\r\nTransfer-Encoding: chunked\r\n\r\n`);
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    await new Promise((resolve) => socket.write(`${chunk.repeat(400)}0\r\n\r\n`, resolve));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });

  it('without a length may have any size up to the limit', async () => {
    const { sent, answer } = sending('chunked', {});
    const content = randomBytes(300_000);
    sent.end(content);
    expect((await answer)[0]).toBe(201);
    expect(await api.bytes('photos', 'chunked')).toEqual(content);
    const tooLarge = sending('chunked-large', {});
    tooLarge.sent.on('error', () => {});
    tooLarge.sent.end(randomBytes(1_000_001));
    expect((await tooLarge.answer)[0]).toBe(413);
    expect(await api.refusal('GET', pathOf('photos', 'chunked-large'))).toEqual([404, 'object not found']);
  });
});

it('statistics equal a recount after many different changes', async () => {
  const tenant = 'counted';
  await api.bucket('stats', {}, { tenant });
  const keys = Array.from({ length: 6 }, (_, n) => `k${n}`);
  let seed = 7;
  const random = (most: number) => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) % most;
  for (let step = 0; step < 60; step++) {
    const key = keys[random(keys.length)]!;
    const other = keys[random(keys.length)]!;
    const kind = random(4);
    const options = { tenant };
    if (kind < 2) await api.put('stats', key, Buffer.alloc(random(3) * 15_000, step % 5), options);
    else if (kind === 2) await server.request('DELETE', base + pathOf('stats', key), options);
    else
      await server.request('POST', `${base}/buckets/stats/copy`, {
        ...options,
        body: { source_key: other, key },
      });
  }
  const [recount] = await server.db.sql`
    select (select count(*) from storage.objects where tenant_id = ${tenant}) as objects,
      (select coalesce(sum(size), 0)::bigint from storage.objects where tenant_id = ${tenant}) as logical_bytes,
      (select coalesce(sum(size), 0)::bigint from storage.blobs where tenant_id = ${tenant}) as stored_bytes,
      (
        select count(*) from storage.blobs
        where tenant_id = ${tenant} and not exists (select from storage.objects where blob_id = blobs.id)
      ) as garbage_blobs`;
  const { body } = await api.send('GET', '/admin/stats', { tenant });
  expect(body).toMatchObject({ ...recount, driver: 'fs', buckets: 1, damaged_blobs: 0 });
  expect(body.dedup_saved_bytes).toBe(body.logical_bytes - (body.stored_bytes - body.garbage_bytes));
  expect(await api.refusal('GET', '/admin/stats?scope=instance', { tenant })).toEqual([403, 'forbidden']);
  expect((await api.send('GET', '/admin/stats?scope=instance')).body.buckets).toBeGreaterThan(1);
});
