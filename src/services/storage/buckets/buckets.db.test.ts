import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Bucket } from '../../../../generated/storage/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { base, pathOf, putting, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({
    services: ['storage'],
    env: { PLINTH_STORAGE_FSYNC: 'off' },
  });
  api = tools(server);
});
afterAll(() => server.close());

describe('a bucket', () => {
  it('is created with defaults, found by name and by id, and shows its contents', async () => {
    const bucket = await api.bucket('photos', { metadata: { team: 'media' } });
    expect(bucket).toMatchObject({
      ...{ name: 'photos', tenant_id: 'default', quota_bytes: 0, quota_objects: 0, max_object_bytes: 0 },
      ...{
        allowed_content_types: [],
        cors_origins: [],
        events: true,
        metadata: { team: 'media' },
        usage: null,
      },
    });
    await api.put('photos', 'a', 'abc');
    for (const ref of ['photos', bucket.id])
      expect((await api.send('GET', `/buckets/${ref}`)).body).toEqual({
        ...bucket,
        usage: { bytes: 3, objects: 1, upload_bytes: 0 },
      });
  });

  it('is refused under a taken or an invalid name, and without one', async () => {
    await api.bucket('taken');
    const refused = (body: object) => api.refusal('POST', '/buckets', { body });
    expect(await refused({ name: 'taken' })).toEqual([409, 'bucket already exists']);
    expect(await refused({ name: '-x' })).toEqual([400, 'invalid bucket name']);
    expect(await refused({ name: 'bkt_01m7w6j6r2f6ct0pas1edd8vfz' })).toEqual([400, 'invalid bucket name']);
    expect(await refused({})).toEqual([400, 'bucket name is required']);
    expect(await refused({ name: 'x', quota: 1 })).toEqual([400, 'quota: unknown']);
    expect(await refused({ name: 'x', metadata: { '': 'x' } })).toEqual([
      400,
      'metadata: names must have 1 to 64 characters',
    ]);
  });

  it('keeps what an update does not name, and null brings defaults back', async () => {
    const created = await api.bucket('updated', {
      quota_bytes: 5,
      events: false,
      cors_origins: ['https://a.test'],
    });
    const { body } = await api.send('PATCH', '/buckets/updated', {
      body: { quota_bytes: null, quota_objects: 2 },
    });
    expect(body).toEqual({ ...created, quota_bytes: 0, quota_objects: 2, updated_at: body.updated_at });
    expect(await api.refusal('PATCH', '/buckets/absent', { body: {} })).toEqual([404, 'bucket not found']);
  });

  it('is deleted when it is empty; with force it is gone at once, and its contents follow', async () => {
    const { id } = await api.bucket('doomed');
    await api.put('doomed', 'a', 'x'.repeat(20_000));
    await api.put('doomed', 'b', 'small');
    expect(await api.refusal('DELETE', '/buckets/doomed')).toEqual([409, 'bucket is not empty']);
    await api.send('DELETE', '/buckets/doomed?force=true');
    for (const ref of ['doomed', id])
      expect(await api.refusal('GET', `/buckets/${ref}`)).toEqual([404, 'bucket not found']);
    expect(await api.refusal('GET', pathOf(id, 'a'))).toEqual([404, 'bucket not found']);
    await api.bucket('doomed');
    await expect
      .poll(async () => (await server.db.sql`select id from storage.buckets where id = ${id}`).length, {
        timeout: 15_000,
      })
      .toBe(0);
    expect((await api.send('GET', '/buckets/doomed')).body.usage).toEqual({
      bytes: 0,
      objects: 0,
      upload_bytes: 0,
    });
    await api.send('DELETE', '/buckets/doomed');
  });

  it('is listed by name, page by page', async () => {
    for (const name of ['L1', 'L2', 'L3']) await api.bucket(name);
    const page = (query: string) => api.send('GET', `/buckets?prefix=L&limit=2${query}`);
    const first = (await page('')).body;
    expect(first).toMatchObject({ buckets: [{ name: 'L1' }, { name: 'L2' }], truncated: true });
    const second = (await page(`&cursor=${first.cursor}`)).body;
    expect(second).toMatchObject({ buckets: [{ name: 'L3' }], truncated: false, cursor: null });
    expect(await api.refusal('GET', '/buckets?cursor=nonsense')).toEqual([400, 'invalid cursor']);
  });

  it('belongs to its tenant alone', async () => {
    const { id } = await api.bucket('mine');
    await api.put('mine', 'a', 'x');
    const foreign = { tenant: 'other' };
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['GET', '/objects'],
      ['GET', '/objects/a'],
      ['HEAD', '/objects/a'],
      ['DELETE', '/objects/a'],
      ['PUT', '/objects/a'],
    ] as const) {
      const options =
        method === 'PUT' ? putting('x', foreign) : method === 'PATCH' ? { ...foreign, body: {} } : foreign;
      const answers = await Promise.all(
        [id, 'mine', 'absent'].map((ref) => server.request(method, `${base}/buckets/${ref}${path}`, options)),
      );
      for (const { status, text } of answers)
        expect([method, path, status, text]).toEqual([method, path, 404, answers[2]!.text]);
    }
    const { buckets } = (await api.send('GET', '/buckets', foreign)).body as { buckets: Bucket[] };
    expect(buckets).toEqual([]);
    expect(await api.bytes('mine', 'a')).toEqual(Buffer.from('x'));
  });
});

it('is deleted before or after an object is put into it, and never with it', async () => {
  for (let round = 0; round < 20; round++) {
    await api.bucket('raced');
    const [put, deleted] = await Promise.all([
      server.request('PUT', base + pathOf('raced', 'a'), putting('a')),
      server.request('DELETE', `${base}/buckets/raced`),
    ]);
    const statuses = [put.status, deleted.status];
    if (put.status === 201) {
      expect(statuses).toEqual([201, 409]);
      expect((await api.bytes('raced', 'a')).toString()).toBe('a');
      await api.send('DELETE', '/buckets/raced?force=true');
    } else expect(statuses).toEqual([404, 204]);
  }
});
