import type { Part, StoredObject, Upload } from '../../../../generated/storage/types.ts';
import type { TestRequest } from '../../../testing/server.ts';
import { putting, type tools } from '../testing.ts';

/** Short helpers for tests of uploads. Each expects success. */
export const uploadTools = ({ send }: Pick<ReturnType<typeof tools>, 'send'>) => ({
  begin: async (bucket: string, key: string, body: object = {}, options: TestRequest = {}): Promise<Upload> =>
    (await send('POST', `/buckets/${bucket}/uploads`, { ...options, body: { key, ...body } })).body as never,
  get: async ({ bucket, id }: Upload, query = ''): Promise<Upload> =>
    (await send('GET', `/buckets/${bucket}/uploads/${id}${query}`)).body as never,
  part: async (upload: Upload, number: number, content: string | Uint8Array): Promise<Part> =>
    (await send('PUT', partPath(upload, number), putting(content))).body as never,
  complete: async (upload: Upload, body?: object): Promise<StoredObject> =>
    (await send('POST', `${uploadPath(upload)}/complete`, { body })).body as never,
  abort: async (upload: Upload): Promise<unknown> => await send('DELETE', uploadPath(upload)),
});

export const uploadPath = ({ bucket, id }: Pick<Upload, 'bucket' | 'id'>) =>
  `/buckets/${bucket}/uploads/${id}`;

export const partPath = (upload: Pick<Upload, 'bucket' | 'id'>, number: number) =>
  `${uploadPath(upload)}/parts/${number}`;

/** How a completion names parts. */
export const named = (...parts: Part[]) => ({
  parts: parts.map(({ part_number, etag }) => ({ part_number, etag })),
});
