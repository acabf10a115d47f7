import { ReadableStream } from 'node:stream/web';
import { describe, expect, it } from 'vitest';
import type { RawBody } from '../sdk/src/index.ts';
import type { Context } from './http/context.ts';
import type { PortsOf } from './http/port.ts';
import { madeUp } from './testing/made-up-service.ts';
import { testServer } from './testing/server.ts';

describe.each(['in this process', 'on another server'])('content of a service %s', (where) => {
  const kept = new Map<string, { type: string; bytes: Buffer }>();
  const storage = madeUp(
    'storage',
    {},
    {
      async Objects_put(
        _,
        request: { key: string; 'Content-Type': string; body: AsyncIterable<Buffer> },
        { reply },
      ) {
        const pieces: Buffer[] = [];
        for await (const piece of request.body) pieces.push(Buffer.from(piece));
        const bytes = Buffer.concat(pieces);
        kept.set(request.key, { type: request['Content-Type'], bytes });
        reply.status(201);
        return { size: bytes.length };
      },
      Objects_get(_, { key }: { key: string }, { reply }) {
        const { type, bytes } = kept.get(key)!;
        reply.header('Content-Type', type);
        reply.header('ETag', '"1"');
        return (async function* () {
          for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
        })();
      },
    },
  );
  type Storage = PortsOf<{ storage: 'required' }>['storage'];
  const keep = async (storage: Storage, context: Context, key: string, body: RawBody) => {
    const { size } = await storage.objects.put({ bucket: 'photos', key, body }, context);
    const found = await storage.objects.get({ bucket: 'photos', key }, context);
    return [size, found.headers.get('Content-Type'), found.headers.get('ETag'), (await found.text()).length];
  };
  const photographer = madeUp(
    'sync',
    { storage: 'required' },
    {
      Info_get: async ({ storage }, _, context) => ({
        text: await keep(storage, context, 'a/b c.txt', 'some text'),
        bytes: await keep(storage, context, 'bytes', Buffer.alloc(70_000, 'x')),
        blob: await keep(storage, context, 'blob', new Blob(['{}'], { type: 'image/png' })),
        pieces: await keep(
          storage,
          context,
          'pieces',
          ReadableStream.from([Buffer.from('one'), Buffer.from('two')]),
        ),
      }),
    },
  );

  it('goes there and comes back in pieces, with its type and its headers', async () => {
    const together = where === 'in this process';
    const other = together
      ? undefined
      : await testServer({ services: [], modules: [storage], strict: false });
    const server = await testServer({
      services: [],
      modules: together ? [storage, photographer] : [photographer],
      strict: false,
      remotes: other ? { storage: { url: `${other.url}/storage`, token: other.rootToken } } : {},
    });
    try {
      expect((await server.request('GET', '/sync/info')).body).toEqual({
        text: [9, 'application/octet-stream', '"1"', 9],
        bytes: [70_000, 'application/octet-stream', '"1"', 70_000],
        blob: [2, 'image/png', '"1"', 2],
        pieces: [6, 'application/octet-stream', '"1"', 6],
      });
    } finally {
      await server.close();
      await other?.close();
    }
  });
});
