import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { childServer, type ChildServer, masterKey } from '../../../testing/server.ts';
import { payloads } from './signing/authorization.ts';
import { s3TestServer, type S3TestServer } from './testing/server.ts';
import {
  type AccessKey,
  read,
  s3Client,
  type S3Client,
  signedHeaders,
  type S3TestResponse,
} from './testing/signer.ts';

let given: S3TestServer;
let s3: S3Client;
let bucket: string;

beforeAll(async () => {
  given = await s3TestServer();
  ({ s3 } = given);
  bucket = await given.bucket();
  await s3.send('PUT', `/${bucket}/secret`, { body: 'secret' });
});
afterAll(() => given.server.close());

const outcome = ({ status, code }: S3TestResponse) => [status, code];
const client = async (body: object, tenant?: string) =>
  s3Client(given.base, await given.accessKey(body, tenant));

describe('a request is refused', () => {
  const path = () => `/${bucket}/secret`;

  test('without a signature, also where it would change nothing', async () => {
    for (const [method, where] of [
      ['GET', path()],
      ['PUT', path()],
      ['GET', '/'],
      ['GET', '/absent'],
      ['PATCH', '/absent'],
    ])
      expect(outcome(await read(await fetch(given.base + where!, { method: method! })))).toEqual([
        403,
        'AccessDenied',
      ]);
    const root = { authorization: `Bearer ${given.server.rootToken}` };
    expect(outcome(await read(await fetch(given.base + path(), { headers: root })))).toEqual([
      400,
      'InvalidRequest',
    ]);
  });

  test('when anything that was signed has changed', async () => {
    const url = given.base + path();
    const headers = signedHeaders(await given.accessKey(), 'GET', url, { headers: { range: 'bytes=0-1' } });
    const send = async (method: string, where: string, changes: Record<string, string> = {}) =>
      outcome(await read(await fetch(where, { method, headers: { ...headers, ...changes } })));
    expect(await send('GET', url)).toEqual([206, undefined]);
    for (const [method, where, changes] of [
      ['DELETE', url, {}],
      ['GET', `${url}2`, {}],
      ['GET', `${url}?a`, {}],
      ['GET', url, { range: 'bytes=0-5' }],
      ['GET', url, { 'x-amz-content-sha256': payloads.unsigned }],
    ] as const)
      expect(await send(method, where, changes)).toEqual([403, 'SignatureDoesNotMatch']);
  });

  test('with another secret, or an id that nobody has', async () => {
    const key = await given.accessKey();
    const forged: AccessKey[] = [
      { ...key, secret_access_key: `${key.secret_access_key.slice(0, -1)}_` },
      { ...key, access_key_id: 'PLKAAAAAAAAAAAAAAAAA' },
    ];
    const codes = forged.map(async (one) => (await s3Client(given.base, one).send('GET', path())).code);
    expect(await Promise.all(codes)).toEqual(['SignatureDoesNotMatch', 'InvalidAccessKeyId']);
  });

  test('with headers that nobody signed', async () => {
    const unsigned = { 'x-amz-copy-source': `/${bucket}/secret` };
    expect(outcome(await s3.send('PUT', `/${bucket}/copy`, { unsigned }))).toEqual([403, 'AccessDenied']);
    const meta = { 'x-amz-meta-a': 'b' };
    const url = s3.url('PUT', `/${bucket}/up`);
    const response = await fetch(url, { method: 'PUT', body: 'a', headers: meta });
    expect(outcome(await read(response))).toEqual([403, 'AccessDenied']);
  });

  test('too late and too early', async () => {
    const minutes = (count: number) => Date.now() + count * 60_000;
    for (const at of [minutes(-16), minutes(16)])
      expect(outcome(await s3.send('GET', path(), { at }))).toEqual([403, 'RequestTimeTooSkewed']);
    expect((await s3.send('GET', path(), { at: minutes(-14) })).status).toBe(200);
    const url = (options: object) => s3.url('GET', path(), options);
    expect((await fetch(url({ at: minutes(-60), expires: 4000 }))).status).toBe(200);
    expect(outcome(await read(await fetch(url({ at: minutes(-60), expires: 3000 }))))).toEqual([
      403,
      'AccessDenied',
    ]);
    expect(outcome(await read(await fetch(url({ expires: 700_000 }))))).toEqual([
      400,
      'AuthorizationQueryParametersError',
    ]);
  });

  test('when a signed URL is used for something else', async () => {
    const url = s3.url('GET', path());
    const other = [
      [url, 'PUT'],
      [url, 'HEAD'],
      [url.replace('/secret?', '/other?'), 'GET'],
      [`${url}&response-content-type=text%2Fhtml`, 'GET'],
      [url.replace('Expires=60', 'Expires=61'), 'GET'],
    ] as const;
    for (const [where, method] of other) expect((await fetch(where, { method })).status).toBe(403);
  });
});

describe('an access key', () => {
  test('of one bucket reaches no other one, in no way', async () => {
    const own = await given.bucket();
    const bound = await client({ bucket: own });
    await s3.send('PUT', `/${own}/a`, { body: 'a' });
    expect((await bound.send('GET', `/${own}/a`)).status).toBe(200);
    expect((await bound.send('PUT', `/${own}/b`, { body: 'b' })).status).toBe(200);
    const source = (from: string) => ({ headers: { 'x-amz-copy-source': from } });
    const refused = [
      ['GET', `/${bucket}/secret`, {}],
      ['HEAD', `/${bucket}`, {}],
      ['GET', `/${bucket}`, {}],
      ['GET', `/${bucket}?acl`, {}],
      ['PUT', `/${bucket}/x`, { body: 'x' }],
      ['DELETE', `/${bucket}/secret`, {}],
      ['POST', `/${bucket}?delete`, { body: '<Delete><Object><Key>secret</Key></Object></Delete>' }],
      ['POST', `/${bucket}/x?uploads`, {}],
      ['PUT', `/${own}/x`, source(`/${bucket}/secret`)],
      ['PUT', `/${own}/x`, source(`/absent-bucket/secret`)],
      ['GET', '/absent-bucket/a', {}],
      ['PUT', '/absent-bucket', {}],
    ] as const;
    for (const [method, where, options] of refused) {
      const { status } = await bound.send(method, where, options);
      expect([method, where, status]).toEqual([method, where, 403]);
    }
    expect((await bound.send('GET', '/')).text.match(/<Name>/g)).toHaveLength(1);
    expect(outcome(await bound.send('PUT', `/${own}`))).toEqual([409, 'BucketAlreadyOwnedByYou']);
    const { text } = await s3.send('POST', `/${bucket}/mpu?uploads`);
    const id = /<UploadId>(.*?)</.exec(text)![1];
    expect(
      outcome(await bound.send('PUT', `/${own}/mpu?partNumber=1&uploadId=${id}`, { body: 'a' })),
    ).toEqual([404, 'NoSuchUpload']);
    expect((await s3.send('GET', `/${bucket}/secret`)).text).toBe('secret');
  });

  test('does not reach a later bucket of the same name', async () => {
    const own = await given.bucket();
    const bound = await client({ bucket: own });
    await s3.send('DELETE', `/${own}`);
    await s3.send('PUT', `/${own}`);
    expect(outcome(await bound.send('GET', `/${own}`))).toEqual([403, 'AccessDenied']);
  });

  test('does what its scopes allow and no more', async () => {
    const [reader, writer] = [
      await client({ scopes: ['storage:read'] }),
      await client({ scopes: ['storage:write'] }),
    ];
    expect((await reader.send('GET', `/${bucket}/secret`)).text).toBe('secret');
    expect((await writer.send('PUT', `/${bucket}/w`, { body: 'w' })).status).toBe(200);
    const writes = [
      ['PUT', `/${bucket}/r`],
      ['DELETE', `/${bucket}/secret`],
      ['PUT', '/new-bucket'],
      ['POST', `/${bucket}?delete`],
      ['POST', `/${bucket}/r?uploads`],
    ] as const;
    for (const [method, where] of writes)
      expect(outcome(await reader.send(method, where, { body: '' }))).toEqual([403, 'AccessDenied']);
    for (const where of ['/', `/${bucket}`, `/${bucket}/secret`, `/${bucket}?uploads`])
      expect(outcome(await writer.send('GET', where))).toEqual([403, 'AccessDenied']);
    // The tag of a copied byte tells which byte it is.
    const { text } = await writer.send('POST', `/${bucket}/w?uploads`);
    const id = /<UploadId>(.*?)</.exec(text)?.[1];
    for (const where of [`/${bucket}/w`, `/${bucket}/w?partNumber=1&uploadId=${id}`]) {
      const headers = { 'x-amz-copy-source': `/${bucket}/secret` };
      expect(outcome(await writer.send('PUT', where, { headers }))).toEqual([403, 'AccessDenied']);
    }
  });

  test('of another tenant sees the same as of what does not exist', async () => {
    const other = await client({}, 'globex');
    const shape = ({ status, text }: S3TestResponse) =>
      [status, text.replace(/<(RequestId|Resource|BucketName|Key)>.*?<\/\1>/g, '')] as const;
    for (const [method, rest] of [
      ['GET', ''],
      ['GET', '/secret'],
      ['PUT', '/x'],
      ['DELETE', '/secret'],
      ['DELETE', ''],
    ] as const) {
      const theirs = shape(await other.send(method, `/${bucket}${rest}`));
      expect(theirs).toEqual(shape(await other.send(method, `/absent-bucket${rest}`)));
      expect(theirs[0]).toBe(404);
    }
    expect((await other.send('GET', '/')).text).not.toContain(bucket);
    expect((await other.send('PUT', `/${bucket}`)).status).toBe(200);
    expect((await other.send('GET', `/${bucket}/secret`)).status).toBe(404);
  });

  test('that is deleted is refused at once, also in a signed URL', async () => {
    const key = await given.accessKey();
    const revoked = s3Client(given.base, key);
    const url = revoked.url('GET', `/${bucket}/secret`);
    expect((await fetch(url)).status).toBe(200);
    await revoke(key);
    expect(outcome(await revoked.send('GET', `/${bucket}/secret`))).toEqual([403, 'InvalidAccessKeyId']);
    expect(outcome(await read(await fetch(url)))).toEqual([403, 'InvalidAccessKeyId']);
  });
});

async function revoke({ access_key_id }: AccessKey): Promise<void> {
  const path = `/storage/store/v1/s3-credentials/${access_key_id}`;
  expect((await given.server.request('DELETE', path, { tenant: 'acme' })).status).toBe(204);
}

describe.runIf(inject('engine') === 'postgres')('another process', () => {
  let child: ChildServer;
  beforeAll(async () => {
    const { db, rootToken } = given.server;
    child = await childServer({
      services: ['storage'],
      env: {
        DATABASE_URL: db.options.url!,
        PLINTH_ROOT_TOKEN: rootToken,
        PLINTH_MASTER_KEY: masterKey.toString('base64'),
        PLINTH_DATA_DIR: db.options.dataDir,
      },
    });
  });
  afterAll(() => child.kill());

  test('accepts an access key at once, and refuses it at once when it is deleted', async () => {
    const key = await given.accessKey();
    const there = s3Client(`${child.url}/s3`, key);
    expect((await there.send('GET', `/${bucket}/secret`)).text).toBe('secret');
    await revoke(key);
    expect(outcome(await there.send('GET', `/${bucket}/secret`))).toEqual([403, 'InvalidAccessKeyId']);
  });
});

describe('hostile bodies and paths', () => {
  test.each<[string, string]>([
    [
      'growing entities',
      '<!DOCTYPE Delete [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><Delete><Object><Key>&b;</Key></Object></Delete>',
    ],
    [
      'a foreign file',
      '<!DOCTYPE Delete [<!ENTITY a SYSTEM "file:///etc/passwd">]><Delete><Object><Key>&a;</Key></Object></Delete>',
    ],
    ['deep nesting', '<Delete>'.repeat(100_000)],
    ['too many keys', `<Delete>${'<Object><Key>a</Key></Object>'.repeat(1001)}</Delete>`],
    ['a long text', `<Delete><Object><Key>${'a'.repeat(1_000_000)}</Key></Object></Delete>`],
    ['no XML', 'a=b'],
  ])('XML with %s is refused', async (_what, body) => {
    expect(outcome(await s3.send('POST', `/${bucket}?delete`, { body }))).toEqual([400, 'MalformedXML']);
  });

  test('a document of more than 4 MiB is not read', async () => {
    const body = ' '.repeat(4 * 1024 * 1024 + 1);
    expect(outcome(await s3.send('POST', `/${bucket}?delete`, { body }))).toEqual([400, 'EntityTooLarge']);
  });

  test('keys that a proxy would rewrite, and those that are too long, are refused', async () => {
    for (const key of ['a/%2E%2E/b', '%2E%2E', 'a//b', '/a', 'a%00b', 'a%0Ab'])
      expect([key, ...outcome(await raw('PUT', `/storage/s3/${bucket}/${key}`))]).toEqual([
        key,
        400,
        'InvalidArgument',
      ]);
    for (const key of ['../../etc/passwd', `../${bucket}/secret`])
      expect((await raw('GET', `/storage/s3/${bucket}/${key}`)).status).toBeGreaterThanOrEqual(400);
    expect(outcome(await raw('PUT', `/storage/s3/${bucket}/${'a'.repeat(1025)}`))).toEqual([
      400,
      'KeyTooLongError',
    ]);
    expect((await s3.send('PUT', `/${bucket}/${'d/'.repeat(511)}e`, { body: 'deep' })).status).toBe(200);
    expect(outcome(await raw('GET', `/storage/s3/${bucket}/%FF`))).toEqual([400, 'InvalidURI']);
    expect(outcome(await raw('GET', '/storage/s3/b%00/a'))).toEqual([404, 'NoSuchBucket']);
  });

  test('metadata cannot add headers, and must have names that can be kept', async () => {
    const put = (headers: Record<string, string>) =>
      s3.send('PUT', `/${bucket}/meta`, { body: 'a', headers });
    expect(outcome(await put({ 'x-amz-meta-a.b': 'c' }))).toEqual([400, 'InvalidArgument']);
    expect(outcome(await put({ 'x-amz-meta-a': 'x'.repeat(9000) }))).toEqual([400, 'MetadataTooLarge']);
    expect(outcome(await put({ 'content-type': 'nonsense' }))).toEqual([400, 'InvalidArgument']);
    await given.server.request('PUT', `/storage/store/v1/buckets/${bucket}/objects/lines`, {
      tenant: 'acme',
      body: 'a',
      headers: { 'content-type': 'text/plain', 'x-store-meta-a': "utf-8''b%0D%0AX-Evil%3A%20c" },
    });
    const { headers } = await s3.send('HEAD', `/${bucket}/lines`);
    expect(headers.get('x-evil')).toBeNull();
  });

  test('of a body whose chunks were changed on the way nothing is stored', async () => {
    const body = `5;chunk-signature=${'0'.repeat(64)}\r\nhello\r\n0;chunk-signature=${'0'.repeat(64)}\r\n\r\n`;
    const headers = { 'x-amz-decoded-content-length': '5', 'content-encoding': 'aws-chunked' };
    const sent = { body, headers, payload: payloads.signedChunks };
    expect(outcome(await s3.send('PUT', `/${bucket}/chunked`, sent))).toEqual([403, 'SignatureDoesNotMatch']);
    const unsigned = { ...sent, body: '5\r\nhello\r\n0\r\n\r\n', payload: payloads.unsignedTrailer };
    expect((await s3.send('PUT', `/${bucket}/chunked`, unsigned)).status).toBe(200);
    const short = { ...unsigned, headers: { ...headers, 'x-amz-decoded-content-length': '6' } };
    expect(outcome(await s3.send('PUT', `/${bucket}/chunked`, short))).toEqual([400, 'IncompleteBody']);
    expect((await s3.send('GET', `/${bucket}/chunked`)).text).toBe('hello');
  });
});

test('a client that waits to be asked is refused before it sends the body', async () => {
  const url = `${given.base}/${bucket}/expected`;
  const ask = async (key: AccessKey, length: number) => {
    const headers = signedHeaders(key, 'PUT', url, { payload: payloads.unsigned });
    const sent = request(url, {
      method: 'PUT',
      headers: { ...headers, 'content-length': String(length), expect: '100-continue' },
    });
    let isAsked = false;
    sent.on('continue', () => {
      isAsked = true;
      sent.end('x'.repeat(length));
    });
    sent.flushHeaders();
    const status = await new Promise<number>((resolve, reject) => {
      sent.on('response', (response) => {
        response.resume();
        resolve(response.statusCode!);
      });
      sent.on('error', reject);
    });
    sent.destroy();
    return [isAsked, status];
  };
  const key = await given.accessKey();
  expect(await ask(key, 3)).toEqual([true, 200]);
  expect(await ask({ ...key, secret_access_key: 'x' }, 3)).toEqual([false, 403]);
  expect(await ask(key, 6 * 1024 ** 3)).toEqual([false, 400]);
});

test('the log and the metrics name operations, and no line holds a signature', async () => {
  await s3.send('GET', `/${bucket}/secret`);
  const { text } = await given.server.request('GET', '/metrics');
  expect(text).toMatch(
    /plinth_http_request_duration_seconds_count\{service="storage",operation="S3_GetObject",status="200"\} \d+/,
  );
});

/** Sends a path exactly as it is, signed as S3 clients sign it. */
async function raw(method: string, path: string): Promise<S3TestResponse> {
  const { origin, hostname, port } = new URL(given.base);
  const decoded = (() => {
    try {
      return decodeURIComponent(path);
    } catch {
      return undefined;
    }
  })();
  const key = await given.accessKey();
  const headers = decoded === undefined ? {} : signedHeaders(key, method, origin, { signedPath: decoded });
  return await new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path, headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () => {
        const bytes = Buffer.concat(pieces);
        const text = bytes.toString();
        const code = /<Code>(.*?)<\/Code>/.exec(text)?.[1];
        resolve({ status: response.statusCode!, headers: new Headers(), text, bytes, code });
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}
