import { ReadableStream } from 'node:stream/web';
import { describe, expect, it } from 'vitest';
import type { RawBody } from '../sdk/src/index.ts';
import type { Context } from './http/context.ts';
import type { PortsOf } from './http/port.ts';
import type { ServiceModule } from './http/service.ts';
import { Gone } from './lib/errors.ts';
import { madeUp } from './testing/made-up-service.ts';
import { testServer } from './testing/server.ts';

describe.each(['in this process', 'on another server'])('content of a service %s', (where) => {
  const kept = new Map<string, { type: string; bytes: Buffer; metadata: Record<string, string> }>();
  const storage = madeUp(
    'storage',
    {},
    {
      async Objects_put(
        _,
        request: {
          key: string;
          'Content-Type': string;
          body: AsyncIterable<Buffer>;
          metadata: Record<string, string>;
        },
        { reply },
      ) {
        const pieces: Buffer[] = [];
        for await (const piece of request.body) pieces.push(Buffer.from(piece));
        const bytes = Buffer.concat(pieces);
        kept.set(request.key, { type: request['Content-Type'], bytes, metadata: request.metadata });
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

  /** Returns the answer of `sync` when it asks the service. */
  async function answered(asked: ServiceModule, asker: ServiceModule) {
    const together = where === 'in this process';
    const other = together ? undefined : await testServer({ services: [], modules: [asked], strict: false });
    const server = await testServer({
      services: [],
      modules: together ? [asked, asker] : [asker],
      strict: false,
      remotes: other ? { [asked.name]: { url: `${other.url}/${asked.name}`, token: other.rootToken } } : {},
    });
    try {
      const { status, body } = await server.request('GET', '/sync/info');
      return { status, body };
    } finally {
      await server.close();
      await other?.close();
    }
  }

  it('goes there and comes back in pieces, with its type and its headers', async () => {
    expect((await answered(storage, photographer)).body).toEqual({
      text: [9, 'application/octet-stream', '"1"', 9],
      bytes: [70_000, 'application/octet-stream', '"1"', 70_000],
      blob: [2, 'image/png', '"1"', 2],
      pieces: [6, 'application/octet-stream', '"1"', 6],
    });
    expect(kept.get('pieces')!.metadata).toEqual({});
  });

  it.each<[what: string, metadata: Record<string, string>, expected: unknown]>([
    ['', { Camera: 'Łeica', 'no-flash': ' x ', n: "utf-8''%41" }, 201],
    ['unless a name is no name', { 'a b': 'x' }, 400],
    [
      'unless there are too many',
      Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`a${n}`, 'x'])),
      400,
    ],
    ['unless they are too large', { a: 'x'.repeat(8_192) }, 400],
    ['unless one cannot be stored', { a: 'x\0' }, 400],
  ])('keeps its metadata%s', async (_, metadata, expected) => {
    const tagger = madeUp(
      'sync',
      { storage: 'required' },
      {
        Info_get: async ({ storage }, _request, context) => {
          await storage.objects.put({ bucket: 'photos', key: 'tagged', body: 'x', metadata }, context);
          return kept.get('tagged')!.metadata;
        },
      },
    );
    const { status, body } = await answered(storage, tagger);
    if (expected === 201)
      expect([status, body]).toEqual([200, { camera: 'Łeica', 'no-flash': ' x ', n: "utf-8''%41" }]);
    else expect(status).toBe(expected);
  });

  it.each(['whole', 'cut'])(
    'that is lines of JSON arrives line by line, or with an error: %s',
    async (how) => {
      const line = (id: string) => ({ kind: 'invoice', record: { id } });
      async function* lines() {
        yield line('inv_1');
        await Promise.resolve();
        if (how === 'cut') throw Gone('invoices are gone');
        yield line('inv_2');
      }
      const billing = madeUp('billing', {}, { Customers_export: lines });
      const accountant = madeUp(
        'sync',
        { billing: 'required' },
        {
          Info_get: async ({ billing }, _request, context) => {
            const answer = await billing.customers.export({ id: 'cus_01kf0h8v90fkrvgzcvdpyndt3q' }, context);
            const text = await answer.text();
            return text
              .trimEnd()
              .split('\n')
              .map((part) => JSON.parse(part) as unknown);
          },
        },
      );
      const { status, body } = await answered(billing, accountant);
      if (how === 'whole') expect([status, body]).toEqual([200, [line('inv_1'), line('inv_2')]]);
      else expect(status).toBeGreaterThanOrEqual(400);
    },
  );
});
