import { crc32c } from '@node-rs/crc32';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Upload } from '../../../../generated/storage/types.ts';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { crcHex } from '../content/crc-combination.ts';
import { base, pathOf, putting, tools } from '../testing.ts';
import { named, partPath, uploadPath, uploadTools } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools> & ReturnType<typeof uploadTools>;
beforeAll(async () => {
  server = await testServer({ services: ['storage'], env: { PLINTH_STORAGE_FSYNC: 'off' } });
  api = { ...tools(server), ...uploadTools(tools(server)) };
  await api.bucket('films');
});
afterAll(() => server.close());

const usageOf = async (bucket: string) => (await api.send('GET', `/buckets/${bucket}`)).body.usage as unknown;

/** Content that is stored in a file, not in the database. */
const large = () => randomBytes(300_000);

describe('an upload', () => {
  it('begins without parts', async () => {
    const upload = await api.begin('films', 'a.mp4', { content_type: 'video/mp4', expires_in: '1h' });
    expect(upload).toMatchObject({
      ...{ bucket: 'films', key: 'a.mp4', content_type: 'video/mp4', cache_control: null, metadata: {} },
      ...{ status: 'pending', uploaded_parts: 0, uploaded_bytes: 0, parts: null, parts_truncated: false },
      completed_at: null,
    });
    expect(Date.parse(upload.expires_at) - Date.parse(upload.created_at)).toBe(3_600_000);
    expect(await api.get(upload)).toEqual({ ...upload, parts: [] });
  });

  it.each([
    [{}, 400, 'object key is required'],
    [{ key: 'a//b' }, 400, null],
    [{ key: 'a/../b' }, 400, null],
    [{ key: 'ä'.repeat(513) }, 400, 'invalid object key: must have at most 1024 bytes'],
    [{ key: 'a', metadata: { A: 'b' } }, 400, null],
    [{ key: 'a', expires_in: '59s' }, 400, 'expires_in: at least 1m'],
    [{ key: 'a', expires_in: '721h' }, 400, 'expires_in: at most 720h'],
    [{ key: 'a', size: 1 }, 400, 'size: unknown'],
  ])('is refused for %j', async (body, status, problem) => {
    const [refused, error] = await api.refusal('POST', '/buckets/films/uploads', { body });
    expect(refused).toBe(status);
    if (problem !== null) expect(error).toBe(problem);
  });

  it('is refused in a bucket that is not there or does not allow its type', async () => {
    await api.bucket('pictures', { allowed_content_types: ['image/*'] });
    const begun = (bucket: string) =>
      api.refusal('POST', `/buckets/${bucket}/uploads`, { body: { key: 'a', content_type: 'text/plain' } });
    expect(await begun('absent')).toEqual([404, 'bucket not found']);
    expect(await begun('pictures')).toEqual([415, 'content type is not allowed in this bucket']);
  });

  it('takes parts in any order, and the last one of a number counts', async () => {
    const upload = await api.begin('films', 'ordered');
    await api.part(upload, 3, 'ghi');
    await api.part(upload, 1, 'xxxxxx');
    const first = await api.part(upload, 1, 'abc');
    expect(first).toMatchObject({
      ...{ part_number: 1, size: 3 },
      etag: '"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"',
      checksum: 'sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    });
    const shown = await api.get(upload);
    expect(shown).toMatchObject({ status: 'active', uploaded_parts: 2, uploaded_bytes: 6 });
    expect(shown.parts?.map(({ part_number }) => part_number)).toEqual([1, 3]);
    expect(await api.get(upload, '?part_limit=1')).toMatchObject({ parts: [first], parts_truncated: true });
    const rest = await api.get(upload, '?part_limit=1&part_after=1');
    expect(rest).toMatchObject({ parts: [{ part_number: 3 }], parts_truncated: false });
  });

  it.each([
    ['crc32c:00000000', 'checksum mismatch: crc32c expected 00000000 got 364b3fb7'],
    [
      `md5:${'0'.repeat(32)}`,
      `checksum mismatch: md5 expected ${'0'.repeat(32)} got 900150983cd24fb0d6963f7d28e17f72`,
    ],
    ['sha1:00', 'invalid checksum header'],
  ])('refuses a part with the checksum %s', async (checksum, problem) => {
    const upload = await api.begin('films', 'checked');
    const options = { headers: { 'x-store-checksum': checksum } };
    const [status, error] = await api.refusal('PUT', partPath(upload, 1), putting('abc', options));
    expect(status).toBe(400);
    expect(error).toContain(problem);
    expect(await api.get(upload)).toMatchObject({ uploaded_parts: 0, status: 'pending' });
  });

  it('has parts from 1 to 10,000', async () => {
    const upload = await api.begin('films', 'numbered');
    for (const number of [0, 10_001])
      expect(await api.refusal('PUT', partPath(upload, number), putting('abc'))).toEqual([
        400,
        'invalid part number',
      ]);
    await api.part(upload, 10_000, '');
    expect(await api.get(upload)).toMatchObject({ uploaded_parts: 1, uploaded_bytes: 0, status: 'active' });
  });
});

describe('a completed upload', () => {
  it('is an object with the fields of the upload, the documented tag and the combined checksum', async () => {
    const fields = { content_type: 'text/plain', cache_control: 'max-age=60', metadata: { camera: 'x100' } };
    const upload = await api.begin('films', 'abcdef', fields);
    const parts = [await api.part(upload, 2, 'def'), await api.part(upload, 1, 'abc')].reverse();
    const body = { ...named(...parts), size: 6, checksum: 'crc32c:53bceff1' };
    const answer = await api.send('POST', `${uploadPath(upload)}/complete`, { body });
    const etag = '"9c04d30057b754af1b2d2d4f5675782dd61a5a659c34ee6c2af47526b66cafa6-2"';
    expect(answer.body).toMatchObject({
      ...{ bucket: 'films', key: 'abcdef', size: 6, content_type: 'text/plain', etag },
      ...{ checksum: 'crc32c:53bceff1', metadata: { camera: 'x100' } },
    });
    expect(answer.headers.get('etag')).toBe(etag);
    expect(answer.headers.get('x-store-checksum')).toBe('crc32c:53bceff1');
    const read = await api.send('GET', pathOf('films', 'abcdef'));
    expect(read.text).toBe('abcdef');
    expect(Object.fromEntries(read.headers)).toMatchObject({
      ...{ etag, 'x-store-checksum': 'crc32c:53bceff1', 'cache-control': 'max-age=60' },
      ...{ 'content-type': 'text/plain', 'x-store-meta-camera': 'x100', 'content-length': '6' },
    });
    expect(await api.get(upload)).toMatchObject({
      status: 'completed',
      completed_at: answer.body.last_modified,
      parts: [],
    });
  });

  it.each([
    ['a gap', [1, 3], undefined, 'part 2 is missing'],
    ['no part', [], undefined, 'part 1 is missing'],
    ['a wrong size', [1, 2], { size: 7 }, 'size mismatch: expected 7 got 6'],
    [
      'a wrong checksum',
      [1, 2],
      { checksum: 'crc32c:00000000' },
      `checksum mismatch: crc32c expected 00000000 got ${crcHex(crc32c('1x\n2x\n'))}`,
    ],
  ])('is refused with %s', async (_, numbers, body, problem) => {
    const upload = await api.begin('films', 'refused');
    for (const number of numbers) await api.part(upload, number, `${number}x\n`);
    expect(await api.refusal('POST', `${uploadPath(upload)}/complete`, { body })).toEqual([400, problem]);
    expect(await api.refusal('GET', pathOf('films', 'refused'))).toEqual([404, 'object not found']);
    expect((await api.get(upload)).uploaded_parts).toBe(numbers.length);
  });

  it('is refused when a part is forgotten, changed or unknown', async () => {
    const upload = await api.begin('films', 'strict');
    const [one, two, three] = [
      await api.part(upload, 1, 'a'),
      await api.part(upload, 2, 'b'),
      await api.part(upload, 3, 'c'),
    ];
    const completed = (body: object) => api.refusal('POST', `${uploadPath(upload)}/complete`, { body });
    expect(await completed(named(one, three))).toEqual([400, 'part 2 was uploaded but not listed']);
    expect(await completed(named(one, { ...two, etag: one.etag }, three))).toEqual([
      400,
      'part 2 has another etag',
    ]);
    expect(await completed(named(one, two, three, { ...three, part_number: 4 }))).toEqual([
      400,
      'part 4 is missing',
    ]);
    expect(await completed(named(two, one, three))).toEqual([
      400,
      'parts[1].part_number: must be greater than the one before',
    ]);
    expect(await completed({ parts: [] })).toMatchObject([400, expect.stringMatching(/^parts: /)]);
    const object = await api.complete(upload, { ...named(one, three), allow_subset: true });
    expect(object).toMatchObject({ size: 2, etag: expect.stringMatching(/-2"$/) as string });
    expect((await api.bytes('films', 'strict')).toString()).toBe('ac');
  });

  it('is returned again for the same list, and for no other', async () => {
    const upload = await api.begin('films', 'again');
    const parts = [await api.part(upload, 1, 'a'), await api.part(upload, 2, 'b')];
    const object = await api.complete(upload, named(...parts));
    await api.send('DELETE', pathOf('films', 'again'));
    for (const body of [named(...parts), undefined, {}, { size: 2 }])
      expect(await api.complete(upload, body)).toEqual(object);
    const ended = [409, 'upload is completed'];
    const completed = (body: object) => api.refusal('POST', `${uploadPath(upload)}/complete`, { body });
    expect(await completed({ ...named(parts[0]!), allow_subset: true })).toEqual(ended);
    expect(await completed({ size: 3 })).toEqual([400, 'size mismatch: expected 3 got 2']);
    expect(await api.refusal('PUT', partPath(upload, 3), putting('c'))).toEqual(ended);
    expect(await api.refusal('DELETE', uploadPath(upload))).toEqual(ended);
    expect(await api.refusal('GET', pathOf('films', 'again'))).toEqual([404, 'object not found']);
  });

  it('keeps to the conditions, and stays open when they fail', async () => {
    const upload = await api.begin('films', 'conditional');
    await api.part(upload, 1, 'new');
    const { etag } = await api.put('films', 'conditional', 'old');
    const completed = (headers: Record<string, string>) =>
      api.refusal('POST', `${uploadPath(upload)}/complete`, { headers });
    for (const headers of [{ 'if-none-match': '*' }, { 'if-match': '"other"' }])
      expect(await completed(headers)).toEqual([412, 'precondition failed']);
    expect((await api.get(upload)).status).toBe('active');
    expect((await completed({ 'if-match': etag }))[0]).toBe(200);
    expect((await api.bytes('films', 'conditional')).toString()).toBe('new');
  });

  it('may be empty', async () => {
    const upload = await api.begin('films', 'empty');
    await api.part(upload, 1, '');
    expect(await api.complete(upload, { size: 0, checksum: 'crc32c:00000000' })).toMatchObject({ size: 0 });
    expect(await api.bytes('films', 'empty')).toHaveLength(0);
  });

  it('shows its ranges across parts as slices of the whole', async () => {
    const upload = await api.begin('films', 'ranges');
    const contents = [large(), Buffer.from('tiny'), Buffer.alloc(0), large()];
    for (const [place, content] of contents.entries()) await api.part(upload, place + 1, content);
    const { size, checksum } = await api.complete(upload);
    const whole = Buffer.concat(contents);
    expect(size).toBe(whole.length);
    expect(checksum).toBe(`crc32c:${crcHex(crc32c(whole))}`);
    expect(await api.bytes('films', 'ranges')).toEqual(whole);
    const edges = [0, 1, 262_143, 262_144, 299_999, 300_000, 300_003, 300_004, 562_148, size - 1];
    for (const start of edges) {
      for (const end of edges.filter((edge) => edge >= start)) {
        const range = { headers: { range: `bytes=${start}-${end}` } };
        expect(whole.subarray(start, end + 1).equals(await api.bytes('films', 'ranges', range))).toBe(true);
      }
      const suffix = { headers: { range: `bytes=-${size - start}` } };
      expect(whole.subarray(start).equals(await api.bytes('films', 'ranges', suffix))).toBe(true);
    }
    const beyond = await server.request('GET', base + pathOf('films', 'ranges'), {
      headers: { range: `bytes=${size}-` },
    });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${size}`]);
  });

  it('may have 10,000 parts', async () => {
    const upload = await api.begin('films', 'thousands');
    const content = randomBytes(20_000);
    await api.part(upload, 1, content);
    await server.db.sql`
      insert into storage.parts (tenant_id, upload_id, part_number, blob_id, size, sha256, crc32c)
      select tenant_id, upload_id, number, blob_id, size, sha256, crc32c
      from storage.parts cross join generate_series(2, 10000) as number where upload_id = ${upload.id}`;
    await server.db.sql`
      update storage.uploads set parts = 10000, bytes = bytes * 10000 where id = ${upload.id}`;
    await server.db.sql`
      update storage.usage set upload_bytes = upload_bytes + 9999 * 20000::bigint where bucket_id in ('', (
        select bucket_id from storage.uploads where id = ${upload.id}
      ))`;
    const { etag } = (await api.get(upload)).parts![0]!;
    const parts = Array.from({ length: 10_000 }, (_, place) => ({ part_number: place + 1, etag }));
    const object = await api.complete(upload, { parts, size: 200_000_000 });
    expect(object.etag).toMatch(/-10000"$/);
    const range = { headers: { range: 'bytes=199979995-199980004' } };
    expect(await api.bytes('films', 'thousands', range)).toEqual(
      Buffer.concat([content.subarray(-5), content.subarray(0, 5)]),
    );
    await api.send('DELETE', pathOf('films', 'thousands'));
  });
});

describe('the room of an upload', () => {
  it('is taken by its parts, and given back when it is aborted', async () => {
    await api.bucket('small', { quota_bytes: 10 });
    const upload = await api.begin('small', 'a');
    await api.part(upload, 1, '12345678');
    expect(await usageOf('small')).toEqual({ bytes: 0, objects: 0, upload_bytes: 8 });
    expect(await api.refusal('PUT', partPath(upload, 2), putting('123'))).toEqual([
      413,
      'bucket quota exceeded',
    ]);
    await api.part(upload, 1, '1234567890');
    await api.part(upload, 1, '12');
    expect(await usageOf('small')).toEqual({ bytes: 0, objects: 0, upload_bytes: 2 });
    await api.abort(upload);
    expect(await usageOf('small')).toEqual({ bytes: 0, objects: 0, upload_bytes: 0 });
  });

  it('becomes that of its object, without the parts that are left out and the object that is replaced', async () => {
    await api.bucket('exact', { quota_bytes: 20 });
    await api.put('exact', 'a', '12345');
    const upload = await api.begin('exact', 'a');
    const first = await api.part(upload, 1, '1234567');
    await api.part(upload, 2, '12345678');
    await api.complete(upload, { ...named(first), allow_subset: true });
    expect(await usageOf('exact')).toEqual({ bytes: 7, objects: 1, upload_bytes: 0 });
  });

  it('is limited for each part and for the object by the bucket', async () => {
    await api.bucket('limited', { max_object_bytes: 5 });
    const upload = await api.begin('limited', 'a');
    const tooLarge = [413, 'object too large: at most 5 bytes'];
    expect(await api.refusal('PUT', partPath(upload, 1), putting('123456'))).toEqual(tooLarge);
    await api.part(upload, 1, '123');
    await api.part(upload, 2, '456');
    expect(await api.refusal('POST', `${uploadPath(upload)}/complete`)).toEqual(tooLarge);
  });
});

describe('an aborted upload', () => {
  it('has no parts any more and takes none', async () => {
    const upload = await api.begin('films', 'aborted');
    const content = large();
    await api.part(upload, 1, content);
    await api.abort(upload);
    await api.abort(upload);
    expect(await api.get(upload)).toMatchObject({
      status: 'aborted',
      uploaded_parts: 0,
      uploaded_bytes: 0,
      parts: [],
    });
    const ended = [409, 'upload is aborted'];
    expect(await api.refusal('PUT', partPath(upload, 1), putting('a'))).toEqual(ended);
    expect(await api.refusal('POST', `${uploadPath(upload)}/complete`)).toEqual(ended);
    const [garbage] = await server.db.sql`
      select size from storage.garbage join storage.blobs on blobs.id = garbage.blob_id where size = ${content.length}`;
    expect(garbage).toBeDefined();
  });
});

describe('the list of uploads', () => {
  it('is newest first, by status and by prefix, in pages', async () => {
    await api.bucket('listed');
    const made: Upload[] = [];
    for (const key of ['a/1', 'a/2', 'b/3', 'b/4']) made.push(await api.begin('listed', key));
    await api.part(made[0]!, 1, 'x');
    await api.part(made[1]!, 1, 'x');
    await api.complete(made[1]!);
    await api.abort(made[2]!);
    const keys = async (query: string) => {
      const { body } = await api.send('GET', `/buckets/listed/uploads${query}`);
      expect(body.truncated).toBe(body.cursor !== null);
      return (body.uploads as Upload[]).map(({ key }) => key);
    };
    expect(await keys('')).toEqual(['b/4', 'b/3', 'a/2', 'a/1']);
    expect(await keys('?prefix=a/')).toEqual(['a/2', 'a/1']);
    expect(await keys('?status=pending')).toEqual(['b/4']);
    expect(await keys('?status=active')).toEqual(['a/1']);
    expect(await keys('?status=completed')).toEqual(['a/2']);
    expect(await keys('?status=aborted')).toEqual(['b/3']);
    expect(await keys('?status=expired')).toEqual([]);
    const { body } = await api.send('GET', '/buckets/listed/uploads?limit=3');
    expect(await keys(`?limit=3&cursor=${body.cursor}`)).toEqual(['a/1']);
    expect(await api.refusal('GET', '/buckets/listed/uploads?cursor=abc')).toEqual([400, 'invalid cursor']);
  });
});

describe('an upload of another tenant', () => {
  it('answers like one that is not there', async () => {
    const upload = await api.begin('films', 'foreign');
    await api.part(upload, 1, 'abc');
    await api.bucket('films', {}, { tenant: 'acme' });
    await api.bucket('other');
    const absent = { bucket: 'films', id: 'upl_01m7w6j6r3f6ct0pbbrk0naxs8' };
    const mine = { ...upload, bucket: 'other' };
    const asked = async (of: { bucket: string; id: string }, tenant: string) => [
      await api.refusal('GET', uploadPath(of), { tenant }),
      await api.refusal('PUT', partPath(of, 1), putting('x', { tenant })),
      await api.refusal('POST', `${partPath(of, 1)}/copy`, { tenant, body: { source_key: 'a' } }),
      await api.refusal('POST', `${uploadPath(of)}/complete`, { tenant }),
      await api.refusal('DELETE', uploadPath(of), { tenant }),
    ];
    const gone = [404, 'upload not found'];
    for (const [of, tenant] of [
      [absent, 'acme'],
      [upload, 'acme'],
      [mine, 'default'],
      [{ ...absent, bucket: 'none' }, 'acme'],
    ] as const)
      expect(await asked(of, tenant)).toEqual(Array(5).fill(gone));
    expect((await api.get(upload)).uploaded_parts).toBe(1);
  });
});
