import { get } from 'node:http';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bucket, StoredObject } from '../../../generated/storage/types.ts';
import type { TestRequest, TestResponse, TestServer } from '../../testing/server.ts';

/** Where the service's paths begin on a test server. */
export const base = '/storage/store/v1';

/** Short helpers for the tests of this service. Each expects success; the tests themselves check refusals. */
export const tools = (server: Pick<TestServer, 'request' | 'url' | 'rootToken'>) => {
  const send = async (method: string, path: string, options: TestRequest = {}): Promise<TestResponse> => {
    const answer = await server.request(method, base + path, options);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer;
  };
  return {
    send,
    bucket: async (name: string, body: object = {}, options: TestRequest = {}): Promise<Bucket> =>
      (await send('POST', '/buckets', { ...options, body: { name, ...body } })).body as Bucket,
    /** Stores content under a key. */
    put: async (
      bucket: string,
      key: string,
      content: string | Uint8Array,
      options: TestRequest = {},
    ): Promise<StoredObject> =>
      (await send('PUT', pathOf(bucket, key), putting(content, options))).body as StoredObject,
    /** Returns the bytes under a key. */
    bytes: async (bucket: string, key: string, options: TestRequest = {}): Promise<Buffer> => {
      const response = await fetch(server.url + base + pathOf(bucket, key), {
        headers: { authorization: `Bearer ${server.rootToken}`, ...options.headers },
      });
      if (response.status >= 300) throw new Error(`${response.status} ${await response.text()}`);
      return Buffer.from(await response.arrayBuffer());
    },
    /** Returns the status and the message, which most refusal tests compare. */
    async refusal(
      method: string,
      path: string,
      options: TestRequest = {},
    ): Promise<[status: number, error: string]> {
      const { status, text } = await server.request(method, base + path, options);
      return [status, text === '' ? '' : (JSON.parse(text) as { error: string }).error];
    },
  };
};

export const pathOf = (bucket: string, key: string): string =>
  `/buckets/${bucket}/objects/${key.split('/').map(encodeURIComponent).join('/')}`;

/** The request that stores content. */
export const putting = (content: string | Uint8Array, options: TestRequest = {}): TestRequest => ({
  ...options,
  body: content,
  headers: { 'content-type': 'application/octet-stream', ...options.headers },
});

/** The files of a server's store, drafts included. */
export const filesOf = async ({ db }: Pick<TestServer, 'db'>): Promise<string[]> => {
  const names = await readdir(join(db.options.dataDir, 'storage', 'blobs'), { recursive: true });
  return names.filter((name) => name.includes('/')).sort();
};

/** Sends a GET whose path no library has rewritten, and returns the status of the response. */
export const rawStatus = (
  { url, rootToken }: Pick<TestServer, 'url' | 'rootToken'>,
  path: string,
  { token = rootToken }: Pick<TestRequest, 'token'> = {},
): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const headers = token === null ? {} : { authorization: `Bearer ${token}` };
    get({ hostname, port, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on('error', reject);
  });
