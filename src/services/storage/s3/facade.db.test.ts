import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { s3TestServer, type S3TestServer } from './testing/server.ts';
import { read, s3Client, type S3Client, type S3TestResponse } from './testing/signer.ts';

let given: S3TestServer;
let s3: S3Client;
let bucket: string;

beforeAll(async () => {
  given = await s3TestServer();
  ({ s3 } = given);
  bucket = await given.bucket();
});
afterAll(() => given.server.close());

const md5 = (content: string | Uint8Array) => createHash('md5').update(content).digest('hex');
const native = (method: string, path: string, options: object = {}) =>
  given.server.request(method, `/storage/store/v1/buckets/${bucket}${path}`, { tenant: 'acme', ...options });
const outcome = ({ status, code }: S3TestResponse) => [status, code];
const all = (text: string, name: string) =>
  [...text.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'g'))].map(([, value]) => value);

describe('buckets', () => {
  test('are created, found, listed and deleted', async () => {
    const name = await given.bucket();
    expect(outcome(await s3.send('PUT', `/${name}`))).toEqual([409, 'BucketAlreadyOwnedByYou']);
    expect(outcome(await s3.send('PUT', '/-x'))).toEqual([400, 'InvalidBucketName']);
    expect((await s3.send('HEAD', `/${name}`)).status).toBe(200);
    expect(all((await s3.send('GET', '/')).text, 'Name')).toContain(name);
    expect((await s3.send('GET', `/${name}?location`)).text).toContain('<LocationConstraint');
    await s3.send('PUT', `/${name}/a`, { body: 'a' });
    expect(outcome(await s3.send('DELETE', `/${name}`))).toEqual([409, 'BucketNotEmpty']);
    await s3.send('DELETE', `/${name}/a`);
    expect((await s3.send('DELETE', `/${name}`)).status).toBe(204);
    expect(outcome(await s3.send('GET', `/${name}`))).toEqual([404, 'NoSuchBucket']);
    expect(outcome(await s3.send('PUT', `/${name}/a`, { body: 'a' }))).toEqual([404, 'NoSuchBucket']);
  });

  test('are listed in pages and by prefix', async () => {
    const names = [await given.bucket(), await given.bucket()].sort();
    const page = (query: string) => s3.send('GET', `/?prefix=b-&max-buckets=1${query}`);
    const seen: (string | undefined)[] = [];
    for (let token: string | undefined = ''; token !== undefined;) {
      const { text } = await page(token && `&continuation-token=${token}`);
      expect(all(text, 'Name').length).toBeLessThanOrEqual(1);
      seen.push(...all(text, 'Name'));
      [token] = all(text, 'ContinuationToken');
    }
    expect(seen).toEqual(expect.arrayContaining(names));
    expect(new Set(seen).size).toBe(seen.length);
    expect(all((await s3.send('GET', `/?prefix=${names[0]}`)).text, 'Name')).toEqual([names[0]]);
  });

  test('are created in any region, but with nothing that would not be kept', async () => {
    const configured = (inner: string) =>
      `<CreateBucketConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${inner}</CreateBucketConfiguration>`;
    const name = `region-${bucket}`.slice(0, 40);
    const tagged = configured('<Tags><Tag><Key>a</Key><Value>b</Value></Tag></Tags>');
    expect(outcome(await s3.send('PUT', `/${name}`, { body: tagged }))).toEqual([501, 'NotImplemented']);
    const placed = configured('<LocationConstraint>eu-west-1</LocationConstraint>');
    expect((await s3.send('PUT', `/${name}`, { body: placed })).status).toBe(200);
  });

  test.each([
    ['acl', 200, undefined],
    ['versioning', 200, undefined],
    ['policy', 404, 'NoSuchBucketPolicy'],
    ['cors', 404, 'NoSuchCORSConfiguration'],
    ['lifecycle', 404, 'NoSuchLifecycleConfiguration'],
    ['replication', 501, 'NotImplemented'],
    ['versions', 501, 'NotImplemented'],
  ])('answer ?%s as if it was never set', async (part, status, code) => {
    expect(outcome(await s3.send('GET', `/${bucket}?${part}`))).toEqual([status, code]);
  });
});

describe('objects', () => {
  test('are the same ones as those of the native interface', async () => {
    const headers = {
      'Content-Type': 'text/plain',
      'Cache-Control': 'max-age=60',
      'Content-Encoding': 'aws-chunked,gzip',
      'x-amz-meta-camera': 'x100',
    };
    const put = await s3.send('PUT', `/${bucket}/a/b%20c.txt`, { body: 'hello', headers });
    expect([put.status, put.headers.get('etag')]).toEqual([200, `"${md5('hello')}"`]);
    const there = await native('HEAD', '/objects/a/b%20c.txt');
    expect(there.headers.get('x-store-meta-camera')).toBe('x100');
    expect(there.headers.get('content-encoding')).toBe('gzip');
    const got = await s3.send('HEAD', `/${bucket}/a/b%20c.txt`);
    expect(Object.fromEntries(got.headers)).toMatchObject({
      'content-type': 'text/plain',
      'content-length': '5',
      'cache-control': 'max-age=60',
      'content-encoding': 'gzip',
      'x-amz-meta-camera': 'x100',
      etag: `"${md5('hello')}"`,
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
    });
    await native('PUT', '/objects/native', {
      body: 'native',
      headers: { 'content-type': 'text/plain', 'x-store-meta-title': "utf-8''M%C3%A4rz" },
    });
    const seen = await s3.send('GET', `/${bucket}/native`);
    expect(seen.text).toBe('native');
    expect(seen.headers.get('etag')).toMatch(/^"[0-9a-f]{64}-1"$/);
    expect(seen.headers.get('x-amz-meta-title')).toBe('=?UTF-8?B?TcOkcno=?=');
  });

  test('of any key and content come back byte for byte', async () => {
    for (const key of ['ü', 'é', 'a+b', 'a%25b', '100% %41', '日本/語', 'x/', "q'()*!~-_.", '#?&=;']) {
      const body = randomBytes(50_000);
      const path = `/${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`;
      expect([key, (await s3.send('PUT', path, { body })).status]).toEqual([key, 200]);
      expect((await s3.send('GET', path)).bytes.equals(body)).toBe(true);
      expect(
        all(
          (await s3.send('GET', `/${bucket}?prefix=${encodeURIComponent(key)}&encoding-type=url`)).text,
          'Key',
        ).map((one) => decodeURIComponent(one!)),
      ).toContain(key);
    }
  });

  test('are read in ranges and under conditions', async () => {
    const path = `/${bucket}/ranges`;
    const { headers } = await s3.send('PUT', path, { body: '0123456789' });
    const etag = headers.get('etag')!;
    const get = async (asked: Record<string, string>) => {
      const response = await s3.send('GET', path, { headers: asked });
      return [response.status, response.code ?? response.text];
    };
    expect(await get({ Range: 'bytes=2-4' })).toEqual([206, '234']);
    expect(await get({ Range: 'bytes=-3' })).toEqual([206, '789']);
    expect(await get({ Range: 'bytes=10-' })).toEqual([416, 'InvalidRange']);
    expect(await get({ 'If-Match': etag })).toEqual([200, '0123456789']);
    expect(await get({ 'If-Match': etag.replaceAll('"', '') })).toEqual([200, '0123456789']);
    expect(await get({ 'If-Match': '"other"' })).toEqual([412, 'PreconditionFailed']);
    expect(await get({ 'If-None-Match': etag })).toEqual([304, '']);
    expect(await get({ Range: 'bytes=0-0', 'If-Range': etag })).toEqual([206, '0']);
    expect(await get({ Range: 'bytes=0-0', 'If-Range': '"other"' })).toEqual([200, '0123456789']);
    const shaped = await s3.send(
      'GET',
      `${path}?response-content-type=a%2Fb&response-content-disposition=attachment`,
    );
    expect([shaped.headers.get('content-type'), shaped.headers.get('content-disposition')]).toEqual([
      'a/b',
      'attachment',
    ]);
    expect(outcome(await s3.send('GET', `${path}?response-content-type=a%0D%0Ab:c`))).toEqual([
      400,
      'InvalidArgument',
    ]);
    expect(outcome(await s3.send('GET', `/${bucket}/absent`))).toEqual([404, 'NoSuchKey']);
    expect(outcome(await s3.send('GET', `${path}?partNumber=1`))).toEqual([501, 'NotImplemented']);
    const summed = await s3.send('HEAD', path, { headers: { 'x-amz-checksum-mode': 'ENABLED' } });
    const sha256 = createHash('sha256').update('0123456789').digest('base64');
    expect(summed.headers.get('x-amz-checksum-sha256')).toBe(sha256);
  });

  test('are written under conditions, of which one of many succeeds', async () => {
    const path = `/${bucket}/once`;
    const only = { body: 'a', headers: { 'If-None-Match': '*' } };
    const statuses = await Promise.all(
      Array.from({ length: 8 }, async () => (await s3.send('PUT', path, only)).status),
    );
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, ...Array<number>(7).fill(412)]);
    const swap = (etag: string, body: string) =>
      s3.send('PUT', path, { body, headers: { 'If-Match': etag } });
    expect((await swap(`"${md5('a')}"`, 'b')).status).toBe(200);
    expect(outcome(await swap(`"${md5('a')}"`, 'c'))).toEqual([412, 'PreconditionFailed']);
    expect((await s3.send('GET', path)).text).toBe('b');
    const late = { headers: { 'If-Unmodified-Since': 'Sat, 01 Jan 2000 00:00:00 GMT' } };
    for (const method of ['PUT', 'DELETE'])
      expect(outcome(await s3.send(method, path, late))).toEqual([412, 'PreconditionFailed']);
  });

  test('that are not what was announced are not stored', async () => {
    const path = `/${bucket}/wrong`;
    const digest = createHash('md5').update('other').digest('base64');
    expect(outcome(await s3.send('PUT', path, { body: 'a', headers: { 'Content-MD5': digest } }))).toEqual([
      400,
      'BadDigest',
    ]);
    const crc = { 'x-amz-checksum-crc32': 'AAAAAA==' };
    expect(outcome(await s3.send('PUT', path, { body: 'a', headers: crc }))).toEqual([400, 'BadDigest']);
    const other = createHash('sha256').update('b').digest('hex');
    expect(outcome(await s3.send('PUT', path, { body: 'a', payload: other }))).toEqual([
      400,
      'XAmzContentSHA256Mismatch',
    ]);
    expect((await s3.send('HEAD', path)).status).toBe(404);
  });

  test.each<[string, Record<string, string>]>([
    ['public access', { 'x-amz-acl': 'public-read' }],
    ['encryption', { 'x-amz-server-side-encryption': 'AES256' }],
    ['tags', { 'x-amz-tagging': 'a=b' }],
    ['another storage class', { 'x-amz-storage-class': 'GLACIER' }],
    ['a time of expiry', { Expires: 'Fri, 20 Nov 2026 09:46:41 GMT' }],
  ])('are refused with %s, which they would not get', async (_what, headers) => {
    expect(outcome(await s3.send('PUT', `/${bucket}/x`, { body: 'a', headers }))).toEqual([
      501,
      'NotImplemented',
    ]);
  });

  test('are copied, also onto themselves with other metadata', async () => {
    await s3.send('PUT', `/${bucket}/source%20%2B`, { body: 'copied', headers: { 'x-amz-meta-a': '1' } });
    const from = (headers: Record<string, string> = {}) => ({
      headers: { 'x-amz-copy-source': `/${bucket}/source%20%2B`, ...headers },
    });
    const copied = await s3.send('PUT', `/${bucket}/copy`, from());
    expect([copied.status, all(copied.text, 'ETag')]).toEqual([200, [`&quot;${md5('copied')}&quot;`]]);
    const got = await s3.send('GET', `/${bucket}/copy`);
    expect([got.text, got.headers.get('x-amz-meta-a')]).toEqual(['copied', '1']);
    expect(outcome(await s3.send('PUT', `/${bucket}/source%20%2B`, from()))).toEqual([400, 'InvalidRequest']);
    const replaced = from({ 'x-amz-metadata-directive': 'REPLACE', 'x-amz-meta-b': '2' });
    expect((await s3.send('PUT', `/${bucket}/source%20%2B`, replaced)).status).toBe(200);
    expect((await s3.send('HEAD', `/${bucket}/source%20%2B`)).headers.get('x-amz-meta-b')).toBe('2');
    const unmet = from({ 'x-amz-copy-source-if-match': '"other"' });
    expect(outcome(await s3.send('PUT', `/${bucket}/copy`, unmet))).toEqual([412, 'PreconditionFailed']);
    const absent = { headers: { 'x-amz-copy-source': `/${bucket}/absent` } };
    expect(outcome(await s3.send('PUT', `/${bucket}/copy`, absent))).toEqual([404, 'NoSuchKey']);
  });

  test('are deleted, and those that do not exist count as deleted', async () => {
    await s3.send('PUT', `/${bucket}/d1`, { body: '' });
    await s3.send('PUT', `/${bucket}/d&2`, { body: '' });
    expect((await s3.send('DELETE', `/${bucket}/absent`)).status).toBe(204);
    const body =
      '<Delete><Object><Key>d1</Key></Object><Object><Key>d&amp;2</Key></Object><Object><Key>absent</Key></Object><Object><Key>a//b</Key></Object></Delete>';
    const answer = await s3.send('POST', `/${bucket}?delete`, { body });
    expect(all(answer.text, 'Key')).toEqual(['d1', 'd&amp;2', 'absent', 'a//b']);
    expect(all(answer.text, 'Code')).toEqual(['InvalidArgument']);
    expect((await s3.send('HEAD', `/${bucket}/d1`)).status).toBe(404);
    expect(outcome(await s3.send('POST', `/${bucket}?delete`, { body: '<Delete/>' }))).toEqual([
      400,
      'MalformedXML',
    ]);
  });
});

describe('listings', () => {
  test('of both versions have every key once, with and without folders', async () => {
    const name = await given.bucket();
    const keys = ['a', 'b/1', 'b/2', 'b/3', 'c', 'd/e/f', 'd/g', 'z é'];
    for (const key of keys)
      await s3.send('PUT', `/${name}/${key.split('/').map(encodeURIComponent).join('/')}`, { body: key });
    const walk = async (query: string, next: (text: string) => string | undefined) => {
      const found: (string | undefined)[] = [];
      for (let place: string | undefined = ''; place !== undefined;) {
        const { text } = await s3.send('GET', `/${name}?${query}${place}`);
        found.push(...all(text, 'Key'), ...all(text.replace(/<Prefix>[^<]*<\/Prefix>/, ''), 'Prefix'));
        place = all(text, 'IsTruncated')[0] === 'true' ? next(text) : undefined;
      }
      return found.sort();
    };
    const token = (text: string) => `&continuation-token=${all(text, 'NextContinuationToken')[0]}`;
    const marker = (text: string) => `&marker=${encodeURIComponent(all(text, 'NextMarker')[0]!)}`;
    for (const size of [1, 3, 1000]) {
      expect(await walk(`list-type=2&max-keys=${size}`, token)).toEqual(keys);
      expect(await walk(`max-keys=${size}`, marker)).toEqual(keys);
      const folders = ['a', 'b/', 'c', 'd/', 'z é'];
      expect(await walk(`list-type=2&delimiter=/&max-keys=${size}`, token)).toEqual(folders);
      expect(await walk(`delimiter=/&max-keys=${size}`, marker)).toEqual(folders);
      expect(await walk(`delimiter=/&prefix=d/&max-keys=${size}`, marker)).toEqual(['d/e/', 'd/g']);
    }
    const inGroup = await s3.send('GET', `/${name}?delimiter=/&marker=b/1`);
    expect([all(inGroup.text, 'Key'), all(inGroup.text, 'Prefix')]).toEqual([
      ['c', 'z é'],
      ['', 'd/'],
    ]);
    const after = await s3.send('GET', `/${name}?list-type=2&start-after=c&fetch-owner=true`);
    expect([all(after.text, 'Key'), all(after.text, 'ID')[0]]).toEqual([['d/e/f', 'd/g', 'z é'], 'acme']);
    const none = await s3.send('GET', `/${name}?list-type=2&max-keys=0`);
    expect([all(none.text, 'KeyCount'), all(none.text, 'IsTruncated')]).toEqual([['0'], ['false']]);
    expect(all((await s3.send('GET', `/${name}?prefix=c`)).text, 'ETag')).toEqual([
      `&quot;${md5('c')}&quot;`,
    ]);
    for (const bad of [
      'max-keys=x',
      'list-type=2&continuation-token=!',
      'encoding-type=x',
      `prefix=${'a'.repeat(1025)}`,
    ])
      expect(outcome(await s3.send('GET', `/${name}?${bad}`))).toEqual([400, 'InvalidArgument']);
  });
});

describe('uploads in parts', () => {
  const begin = async (key: string) =>
    all(
      (await s3.send('POST', `/${bucket}/${key}?uploads`, { headers: { 'Content-Type': 'a/b' } })).text,
      'UploadId',
    )[0]!;
  const part = async (key: string, id: string, number: number, body: string) =>
    (await s3.send('PUT', `/${bucket}/${key}?partNumber=${number}&uploadId=${id}`, { body })).headers.get(
      'etag',
    )!;
  const listed = (parts: [number, string][]) =>
    `<CompleteMultipartUpload>${parts.map(([number, etag]) => `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag></Part>`).join('')}</CompleteMultipartUpload>`;
  const complete = (key: string, id: string, parts: [number, string][], headers = {}) =>
    s3.send('POST', `/${bucket}/${key}?uploadId=${id}`, { body: listed(parts), headers });

  test('become an object of the listed parts, however often they are completed', async () => {
    const id = await begin('parts');
    const tags = [
      await part('parts', id, 1, 'hello '),
      await part('parts', id, 2, 'lost'),
      await part('parts', id, 3, 'world'),
    ];
    expect(tags[0]).toBe(`"${md5('hello ')}"`);
    const list = await s3.send('GET', `/${bucket}/parts?uploadId=${id}&max-parts=2`);
    expect([all(list.text, 'PartNumber'), all(list.text, 'NextPartNumberMarker')]).toEqual([
      ['1', '2'],
      ['2'],
    ]);
    const open = await s3.send('GET', `/${bucket}?uploads&prefix=par`);
    expect([all(open.text, 'Key'), all(open.text, 'UploadId')]).toEqual([['parts'], [id]]);
    const chosen: [number, string][] = [
      [1, tags[0]!],
      [3, tags[2]!],
    ];
    const expected = `&quot;${createHash('md5')
      .update(Buffer.from(md5('hello ') + md5('world'), 'hex'))
      .digest('hex')}-2&quot;`;
    for (let time = 0; time < 2; time++) {
      const done = await complete('parts', id, chosen);
      expect([done.status, all(done.text, 'ETag')]).toEqual([200, [expected]]);
    }
    const got = await s3.send('GET', `/${bucket}/parts`);
    expect([got.text, got.headers.get('content-type')]).toEqual(['hello world', 'a/b']);
    expect(all((await s3.send('GET', `/${bucket}?prefix=parts`)).text, 'ETag')).toEqual([expected]);
    expect(
      (await s3.send('GET', `/${bucket}/parts`, { headers: { 'If-Match': got.headers.get('etag')! } }))
        .status,
    ).toBe(200);
    expect(outcome(await s3.send('GET', `/${bucket}/parts?uploadId=${id}`))).toEqual([404, 'NoSuchUpload']);
  });

  test('are completed together with their tag, so that a request whose response was lost can be repeated', async () => {
    const id = await begin('tagged');
    const one: [number, string] = [1, await part('tagged', id, 1, 'a')];
    await given.server.db.sql`alter table storage.s3_tags rename to s3_tags_away`;
    expect((await complete('tagged', id, [one])).status).toBe(500);
    await given.server.db.sql`alter table storage.s3_tags_away rename to s3_tags`;
    expect((await s3.send('HEAD', `/${bucket}/tagged`)).status).toBe(404);
    const both = await Promise.all([complete('tagged', id, [one]), complete('tagged', id, [one])]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect(all(both[0].text, 'ETag')).toEqual(all(both[1].text, 'ETag'));
  });

  test('are refused when a part is not the one that was uploaded', async () => {
    const id = await begin('refused');
    const [one, two] = [await part('refused', id, 1, 'a'), await part('refused', id, 2, 'b')];
    expect(outcome(await complete('refused', id, [[1, two]]))).toEqual([400, 'InvalidPart']);
    expect(outcome(await complete('refused', id, [[3, one]]))).toEqual([400, 'InvalidPart']);
    expect(
      outcome(
        await complete('refused', id, [
          [2, two],
          [1, one],
        ]),
      ),
    ).toEqual([400, 'InvalidPartOrder']);
    expect(outcome(await complete('refused', id, []))).toEqual([400, 'MalformedXML']);
    expect(outcome(await complete('other', id, [[1, one]]))).toEqual([404, 'NoSuchUpload']);
    expect(outcome(await complete('refused', id, [[1, one]], { 'x-amz-mp-object-size': '9' }))).toEqual([
      400,
      'InvalidArgument',
    ]);
    for (const number of [0, 10_001, 'x'])
      expect(
        outcome(
          await s3.send('PUT', `/${bucket}/refused?partNumber=${number}&uploadId=${id}`, { body: 'a' }),
        ),
      ).toEqual([400, 'InvalidArgument']);
    expect((await s3.send('DELETE', `/${bucket}/refused?uploadId=${id}`)).status).toBe(204);
    expect(outcome(await complete('refused', id, [[1, one]]))).toEqual([404, 'NoSuchUpload']);
    expect((await s3.send('HEAD', `/${bucket}/refused`)).status).toBe(404);
  });

  test('take parts from other objects', async () => {
    await s3.send('PUT', `/${bucket}/from`, { body: '0123456789' });
    const id = await begin('made');
    const take = async (number: number, range?: string) => {
      const source = {
        'x-amz-copy-source': `${bucket}/from`,
        ...(range && { 'x-amz-copy-source-range': range }),
      };
      const copied = await s3.send('PUT', `/${bucket}/made?partNumber=${number}&uploadId=${id}`, {
        headers: source,
      });
      return copied.code ?? all(copied.text, 'ETag')[0]!.replaceAll('&quot;', '"');
    };
    expect(await take(9, 'bytes=5-10')).toBe('InvalidArgument');
    const parts: [number, string][] = [
      [1, await take(1)],
      [2, await take(2, 'bytes=2-4')],
    ];
    expect(parts[0]![1]).toBe(`"${md5('0123456789')}"`);
    expect((await complete('made', id, parts)).status).toBe(200);
    expect((await s3.send('GET', `/${bucket}/made`)).text).toBe('0123456789234');
  });
});

test('what the façade cannot do is refused and not left out', async () => {
  const owned = (owner: string) =>
    s3.send('HEAD', `/${bucket}`, { headers: { 'x-amz-expected-bucket-owner': owner } });
  expect((await owned('acme')).status).toBe(200);
  expect((await owned('globex')).status).toBe(403);
  for (const [method, where] of [
    ['GET', '/a?versionId=1'],
    ['DELETE', '/a?versionId=1'],
    ['PUT', '/a?tagging'],
    ['POST', '/a?restore'],
    ['PUT', '?versioning'],
    ['POST', ''],
    ['PUT', '/a?whatever-comes-next'],
    ['DELETE', '?whatever-comes-next'],
    ['DELETE', '?prefix=a'],
  ] as const)
    expect(outcome(await s3.send(method, `/${bucket}${where}`))).toEqual([501, 'NotImplemented']);
  const asked = { headers: { 'x-amz-whatever-comes-next': 'yes' } };
  expect(outcome(await s3.send('PUT', `/${bucket}/a`, asked))).toEqual([501, 'NotImplemented']);
  for (const hidden of [`copy-source=/${bucket}/b`, 'expected-bucket-owner=globex']) {
    const url = s3.url('PUT', `/${bucket}/a?x-amz-${hidden}`);
    expect(outcome(await read(await fetch(url, { method: 'PUT' })))).toEqual([501, 'NotImplemented']);
  }
  expect(outcome(await s3.send('HEAD', `/${bucket}/a`))[0]).toBe(404);
});

test('the same is at the root of a port of its own, and nothing else', async () => {
  const own = s3Client(given.ownBase, await given.accessKey());
  expect((await own.send('PUT', `/${bucket}/own`, { body: 'port' })).status).toBe(200);
  expect((await s3.send('GET', `/${bucket}/own`)).text).toBe('port');
  expect((await fetch(own.url('GET', `/${bucket}/own`))).status).toBe(200);
  expect(outcome(await own.send('GET', '/healthz'))).toEqual([404, 'NoSuchBucket']);
});

test('a bucket keeps its own rules: types, sizes and quotas', async () => {
  const name = await given.bucket();
  const set = (body: object) =>
    given.server.request('PATCH', `/storage/store/v1/buckets/${name}`, { tenant: 'acme', body });
  const put = async (size: number) => outcome(await s3.send('PUT', `/${name}/a`, { body: 'x'.repeat(size) }));
  await set({ allowed_content_types: ['image/*'] });
  expect(await put(1)).toEqual([415, 'UnsupportedMediaType']);
  await set({ allowed_content_types: [], max_object_bytes: 10 });
  expect(await put(11)).toEqual([400, 'EntityTooLarge']);
  await set({ max_object_bytes: 0, quota_bytes: 20 });
  expect(await put(21)).toEqual([403, 'QuotaExceeded']);
  expect(await put(20)).toEqual([200, undefined]);
});
