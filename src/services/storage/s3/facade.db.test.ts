import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestServer, testServer } from '../../../testing/server.ts';
import { newName, read, s3Client, type S3Client } from './testing/signer.ts';

let server: TestServer;
let s3: S3Client;
let bucket: string;

beforeAll(async () => {
  server = await testServer({
    services: ['storage'],
    env: { PLINTH_STORAGE_FSYNC: 'off', PLINTH_STORAGE_S3_PORT: '1' },
    log: { write: (l) => void (l.includes('failed') && console.log(l)) },
  });
  s3 = s3Client(`${server.url}/storage/s3`, await accessKey());
  bucket = newName();
  expect((await s3.send('PUT', `/${bucket}`)).status).toBe(200);
});
afterAll(() => server.close());

const scopes = ['storage:read', 'storage:write'];

async function accessKey(body: object = { scopes }, tenant = 'acme') {
  const created = await server.request('POST', '/storage/store/v1/s3-credentials', { body, tenant });
  expect(created.status).toBe(201);
  return created.body;
}

const tagOf = (content: string | Uint8Array) => `"${createHash('sha256').update(content).digest('hex')}-1"`;

describe('objects', () => {
  test('are the same ones as those of the native interface', async () => {
    const put = await s3.send('PUT', `/${bucket}/a/b.txt`, {
      body: 'hello',
      headers: { 'Content-Type': 'text/plain', 'x-amz-meta-camera': 'x100' },
    });
    expect([put.status, put.headers.get('etag')]).toEqual([200, tagOf('hello')]);
    const native = await server.request('GET', `/storage/store/v1/buckets/${bucket}/objects/a/b.txt`, {
      tenant: 'acme',
    });
    expect([native.status, native.text, native.headers.get('x-store-meta-camera')]).toEqual([
      200,
      'hello',
      'x100',
    ]);
    const got = await s3.send('GET', `/${bucket}/a/b.txt`);
    expect([got.status, got.text, got.headers.get('content-type')]).toEqual([200, 'hello', 'text/plain']);
    expect(got.headers.get('x-amz-meta-camera')).toBe('x100');
  });
});
