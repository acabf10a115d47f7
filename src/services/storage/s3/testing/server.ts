import { expect } from 'vitest';
import { type TestServer, testServer } from '../../../../testing/server.ts';
import { type AccessKey, newName, s3Client, type S3Client } from './signer.ts';

export interface S3TestServer {
  readonly server: TestServer;
  /** A client that may read and write everything of the tenant `acme`. */
  readonly s3: S3Client;
  /** Where buckets begin, below the paths of the service. */
  readonly base: string;
  /** Where they begin on the port of their own. */
  readonly ownBase: string;
  accessKey(body?: object, tenant?: string): Promise<AccessKey>;
  /** Creates a bucket and returns its name. */
  bucket(): Promise<string>;
}

/** Starts a server with the façade under a path and on a port of its own. */
export async function s3TestServer(env: Readonly<Record<string, string>> = {}): Promise<S3TestServer> {
  const server = await testServer({
    services: ['storage'],
    env: { PLINTH_STORAGE_FSYNC: 'off', PLINTH_STORAGE_S3_PORT: '9000', ...env },
  });
  const accessKey = async (body: object = {}, tenant = 'acme') => {
    const given = { scopes: ['storage:read', 'storage:write'], ...body };
    const created = await server.request('POST', '/storage/store/v1/s3-credentials', { body: given, tenant });
    expect([created.status, created.text]).toEqual([201, expect.anything()]);
    return created.body as AccessKey;
  };
  const base = `${server.url}/storage/s3`;
  const s3 = s3Client(base, await accessKey());
  return {
    server,
    s3,
    base,
    ownBase: server.ports[0]!,
    accessKey,
    async bucket() {
      const name = newName();
      expect((await s3.send('PUT', `/${name}`)).status).toBe(200);
      return name;
    },
  };
}
