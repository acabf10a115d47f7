import { get, type IncomingMessage } from 'node:http';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { encodedList } from './encoded-stream.ts';
import { demoServer, token } from './fixture/server.ts';

type Server = Awaited<ReturnType<typeof demoServer>>;
const open: Server[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close(0);
});

async function start(): Promise<Server> {
  const server = await demoServer();
  open.push(server);
  return server;
}

/** Opens a response and collects what arrives; `end` says whether the response was complete. */
async function opened({ url }: Server, path: string) {
  const res = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url + path, { headers: { authorization: `Bearer ${token}` } }, resolve).on('error', reject);
  });
  let text = '';
  const end = new Promise<string>((resolve) => {
    res.on('end', () => resolve('complete')).on('error', () => resolve('cut'));
  });
  res.setEncoding('utf8').on('data', (part: string) => (text += part));
  return { res, text: () => text, end };
}

describe('JSON that is sent as it is produced', () => {
  test('is the array, or the object with its arrays', async () => {
    const server = await start();
    const array = await server.send('GET', '/v1/streamed?end=array');
    expect([array.text, array.headers.get('content-type')]).toEqual([
      '[{"item":1},{"item":2}]',
      'application/json',
    ]);
    expect((await server.send('GET', '/v1/streamed')).text).toBe(
      '{"name":"all","things":[{"item":1},{"item":2}],"none":[]}',
    );
  });

  test('begins before it is complete', async () => {
    const server = await start();
    const gate = Promise.withResolvers<void>();
    server.state.gate = gate.promise;
    const { text, end } = await opened(server, '/v1/streamed?end=gate');
    await vi.waitFor(() => expect(text()).toBe('{"name":"all","things":[{"item":1}'));
    gate.resolve();
    expect([await end, text()]).toEqual([
      'complete',
      '{"name":"all","things":[{"item":1},{"item":2}],"none":[]}',
    ]);
  });

  test('is cut off by an error in the middle: it is neither complete nor JSON', async () => {
    const server = await start();
    const { text, end } = await opened(server, '/v1/streamed?end=broken');
    expect(await end).toBe('cut');
    expect(() => JSON.parse(text()) as unknown).toThrow();
    expect(server.log()).toContain('inside');
  });

  test('is produced no faster than the client reads it, and no longer than the client is there', async () => {
    const server = await start();
    const { res } = await opened(server, '/v1/streamed?end=long');
    res.pause();
    let before = 0;
    await vi.waitFor(() => {
      const last = before;
      before = server.state.waiting;
      expect([before > 0, before]).toEqual([true, last]);
    });
    expect(server.state.waiting).toBeLessThan(1_000_000);
    res.destroy();
    await vi.waitFor(() => expect(server.state.streams).toContain('items ended'));
  });
});

describe('NDJSON', () => {
  test('has a line for each item', async () => {
    const server = await start();
    const { text, headers } = await server.send('GET', '/v1/lines');
    expect([text, headers.get('content-type')]).toEqual(['{"item":1}\n{"item":2}\n', 'application/x-ndjson']);
    expect((await server.send('GET', '/v1/lines?end=none')).text).toBe('');
  });

  test('fails with an ordinary error before its first line', async () => {
    const server = await start();
    expect(await server.send('GET', '/v1/lines?end=early')).toMatchObject({
      status: 409,
      message: 'nothing to send',
    });
  });

  test('that fails on its way ends with the error as its last line, and is cut off', async () => {
    const server = await start();
    const { text, end } = await opened(server, '/v1/lines?end=broken');
    expect(await end).toBe('cut');
    expect(text()).toBe('{"item":1}\n{"item":2}\n{"error":{"code":500,"message":"internal error"}}\n');
    expect(server.lines.filter((line) => line.includes('inside'))).toHaveLength(1);
  });

  test('of HEAD has no lines', async () => {
    const server = await start();
    const { status, text } = await server.send('HEAD', '/v1/lines');
    expect([status, text]).toEqual([200, '']);
  });
});

describe('a list', () => {
  test('is one text while it is short', () => {
    expect(encodedList([])).toBe('[]');
    expect(encodedList([{ a: 1 }, undefined, 'ü'])).toBe('[{"a":1},null,"ü"]');
  });

  test('is encoded in pieces when it is long, and others get their turn after each', async () => {
    const items = Array.from({ length: 50 }, (_, at) => ({ at, text: 'ü😀'.repeat(40_000) }));
    let turns = 0;
    let pieces = 0;
    let text = '';
    const encoded = encodedList(items);
    expect(encoded).not.toBeTypeOf('string');
    for await (const piece of encoded as AsyncIterable<Uint8Array>) {
      expect(turns).toBeGreaterThanOrEqual(pieces - 1);
      setImmediate(() => turns++);
      pieces++;
      text += Buffer.from(piece).toString();
    }
    expect(pieces).toBeGreaterThan(5);
    expect(text).toBe(JSON.stringify(items));
  });
});
