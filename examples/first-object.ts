import { createPlinth } from '@plinth/sdk';

const baseUrl = process.env.PLINTH_URL ?? 'http://127.0.0.1:4000';
const { storage } = createPlinth({ baseUrl, token: process.env.PLINTH_ROOT_TOKEN ?? '' });
const { name: bucket } = await storage.buckets.create({ body: { name: `films-${Date.now()}` } });

const hello = await storage.objects.put({
  bucket,
  key: 'notes/hello.txt',
  body: new Blob(['Hello'], { type: 'text/plain' }),
  metadata: { author: 'ada' },
});
console.log(hello.key, hello.size, hello.content_type, hello.metadata);

// Whoever read this version may replace it; whoever read an older one is told so.
const change = { bucket, key: hello.key, 'If-Match': hello.etag };
await storage.objects.put({ ...change, body: 'Hello, Ada' });
await storage.objects.put({ ...change, body: 'Hello?' }).catch((error: Error) => console.log(error.message));

// Parts may be sent in any order, side by side, and again after a failure.
const { id } = await storage.uploads.create({ bucket, body: { key: 'film.bin' } });
const parts = await Promise.all(
  [1, 2, 3].map((partNum) =>
    storage.uploads.uploadPart({ bucket, id, partNum, body: new Uint8Array(1_048_576).fill(partNum) }),
  ),
);
const listed = parts.map(({ part_number, etag }) => ({ part_number, etag }));
const film = await storage.uploads.complete({ bucket, id, body: { parts: listed } });
console.log(film.key, film.size);

// Anyone may read it with this link, for five minutes.
const link = await storage.objects.presign({
  bucket,
  body: { key: film.key, method: 'GET', expires_in: '5m' },
});
const read = await fetch(link.url, { headers: { Range: 'bytes=1048575-1048576' } });
console.log(read.status, new Uint8Array(await read.arrayBuffer()));
