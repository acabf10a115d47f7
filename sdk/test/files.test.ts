/** Uploads and downloads over a real socket: everything that is sent arrives byte for byte, and no answer is read ahead. */
import { getEventListeners } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RawBody } from '../src/index.ts';
import { inTurn, serve } from './server.ts';
import { failureOf, things } from './things.ts';

const text = 'piece by piece';
const bytes = new TextEncoder().encode(text);
const kept = () => serve(() => ({ status: 204 }));

async function* pieces() {
  for (const byte of bytes) {
    await Promise.resolve();
    yield new Uint8Array([byte]);
  }
}

describe('an upload', () => {
  it.each<[string, () => RawBody]>([
    ['a Blob', () => new Blob([text])],
    ['bytes', () => bytes],
    ['a part of a buffer', () => new Uint8Array(new TextEncoder().encode(`__${text}`).buffer, 2)],
    ['an ArrayBuffer', () => bytes.buffer],
    ['text', () => text],
    ['a stream of the platform', () => new Blob([text]).stream()],
    ['a stream of Node', () => Readable.from([Buffer.from(text)])],
    ['an async iterable', pieces],
  ])('carries %s', async (_, body) => {
    const { url, requests } = await kept();
    await things({ baseUrl: url }).upload({ key: 'k', 'If-Match': '"etag"', body: body() });
    expect(requests[0]).toMatchObject({
      body: text,
      headers: { 'content-type': 'application/octet-stream', 'if-match': '"etag"' },
    });
  });

  it('carries a file without holding it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plinth-sdk-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const content = 'line\n'.repeat(100_000);
    await writeFile(join(folder, 'file'), content);
    const { url, requests } = await kept();
    await things({ baseUrl: url }).upload({ key: 'k', body: createReadStream(join(folder, 'file')) });
    expect(requests[0]?.body === content).toBe(true);
    expect(requests[0]?.headers['transfer-encoding']).toBe('chunked');
  });

  it('says how long it is where that is known', async () => {
    const { url, requests } = await kept();
    await things({ baseUrl: url }).upload({ key: 'k', body: new Blob([text]) });
    await things({ baseUrl: url }).upload(
      { key: 'k', body: pieces() },
      { headers: { 'Content-Length': String(bytes.length) } },
    );
    expect(requests.map(({ headers }) => headers['content-length'])).toEqual(['14', '14']);
  });

  it('has the content type of the Blob, or the one that the call gives', async () => {
    const { url, requests } = await kept();
    const body = new Blob([text], { type: 'text/csv' });
    await things({ baseUrl: url }).upload({ key: 'k', body });
    await things({ baseUrl: url }).upload({ key: 'k', body }, { headers: { 'Content-Type': 'image/png' } });
    expect(requests.map(({ headers }) => headers['content-type'])).toEqual(['text/csv', 'image/png']);
  });

  it('is repeated where its body can be read again', async () => {
    const { url, requests } = await serve(
      inTurn(
        () => ({ status: 503, headers: { 'Retry-After': '0' } }),
        () => ({ status: 204 }),
      ),
    );
    await things({ baseUrl: url }).upload({ key: 'k', body: new Blob([text]) });
    expect(requests.map(({ body }) => body)).toEqual([text, text]);
  });

  it.each<[string, () => RawBody]>([
    ['a stream', () => new Blob([text]).stream()],
    ['an async iterable', pieces],
  ])('of %s is sent once, since it can be read once', async (_, body) => {
    const { url, requests } = await serve(() => ({ status: 503, headers: { 'Retry-After': '0' } }));
    const failure = await failureOf(things({ baseUrl: url }).upload({ key: 'k', body: body() }));
    expect(failure).toMatchObject({ status: 503 });
    expect(requests).toHaveLength(1);
  });

  it('lets go of what it was reading when it is given up', async () => {
    const { url } = await kept();
    const controller = new AbortController();
    let released = false;
    async function* endless() {
      try {
        for (let at = 0; ; at += 1) {
          if (at === 3) controller.abort();
          await new Promise((resolve) => setImmediate(resolve));
          yield new Uint8Array(1024);
        }
      } finally {
        released = true;
      }
    }
    const upload = things({ baseUrl: url }).upload(
      { key: 'k', body: endless() },
      { signal: controller.signal },
    );
    expect(await failureOf(upload)).toMatchObject({ kind: 'abort' });
    await expect.poll(() => released).toBe(true);
  });
});

describe('a download', () => {
  it('is the response, unread, with what its headers say', async () => {
    const headers = { 'Content-Type': 'image/png', ETag: '"1"', 'Content-Length': '5' };
    const { url } = await serve(() => ({ headers, body: 'bytes' }));
    const response = await things({ baseUrl: url }).download({ key: 'k' });
    expect(response.bodyUsed).toBe(false);
    expect(['content-type', 'etag', 'content-length'].map((name) => response.headers.get(name))).toEqual([
      'image/png',
      '"1"',
      '5',
    ]);
    expect(await response.text()).toBe('bytes');
  });

  it('is there before its end is, and is read as it comes, for longer than the time of a try', async () => {
    let open: ServerResponse | undefined;
    const { url } = await serve((_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/csv' });
      response.write('piece');
      open = response;
      return undefined;
    });
    const { body } = await things({ baseUrl: url, timeout: 1_000 }).download({ key: 'k' });
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
    // A slow reader loses nothing that has arrived: only a server that sends nothing is given up.
    for (const pause of [300, 300, 300, 300]) {
      expect(await reader.read()).toEqual({ done: false, value: 'piece' });
      await new Promise((resolve) => setTimeout(resolve, pause));
      open!.write('piece');
    }
    expect(await reader.read()).toEqual({ done: false, value: 'piece' });
    open!.end();
    expect((await reader.read()).done).toBe(true);
  });

  it('that stands still ends with a timeout, one that is cut with a lost connection', async () => {
    const { url } = await serve(({ url: path }, response) => {
      response.writeHead(200, { 'Content-Type': 'text/csv', 'Content-Length': '100' });
      response.write('first');
      if (path.endsWith('cut')) setImmediate(() => response.destroy());
      return undefined;
    });
    const client = things({ baseUrl: url, timeout: 100 });
    const stalled = await client.download({ key: 'stalled' });
    expect(await failureOf(stalled.text())).toMatchObject({
      kind: 'timeout',
      operation: 'things.things.download',
    });
    const cut = await client.download({ key: 'cut' });
    expect(await failureOf(cut.arrayBuffer())).toMatchObject({ kind: 'connection' });
  });

  it('leaves nothing at the signal once it is read, given up or refused', async () => {
    const { url } = await serve(({ url: path }) =>
      path.endsWith('no') ? { status: 404 } : { body: 'bytes' },
    );
    const client = things({ baseUrl: url });
    const controller = new AbortController();
    const { signal } = controller;
    const listeners = () => getEventListeners(signal, 'abort').length;
    const read = await client.download({ key: 'k' }, { signal });
    expect(listeners()).toBe(1);
    await read.text();
    expect(listeners()).toBe(0);
    const left = await client.download({ key: 'k' }, { signal });
    await left.body?.cancel();
    expect(listeners()).toBe(0);
    await failureOf(client.download({ key: 'no' }, { signal }));
    await client.head({ key: 'k' }, { signal });
    expect(listeners()).toBe(0);
    const given = await client.download({ key: 'k' }, { signal });
    controller.abort();
    expect(await failureOf(given.text())).toMatchObject({ kind: 'abort' });
  });

  it('may be of a part', async () => {
    const { url, requests } = await serve(() => ({ status: 206, body: 'yt' }));
    const response = await things({ baseUrl: url }).download({ key: 'a/b', Range: 'bytes=1-2' });
    expect([response.status, await response.text()]).toEqual([206, 'yt']);
    expect(requests[0]).toMatchObject({ url: '/things/objects/a/b', headers: { range: 'bytes=1-2' } });
  });

  it('may be headers alone', async () => {
    const { url, requests } = await serve(() => ({ headers: { ETag: '"1"', 'Content-Length': '5' } }));
    const { headers, status } = await things({ baseUrl: url }).head({ key: 'a/b' });
    expect([status, headers.get('etag'), headers.get('content-length')]).toEqual([200, '"1"', '5']);
    expect(requests[0]?.method).toBe('HEAD');
  });

  it('may be that nothing changed, or a redirect, which is answered and not followed', async () => {
    const elsewhere = await kept();
    const redirect = { status: 303, headers: { Location: elsewhere.url } };
    const { url } = await serve(({ url: path }) => (path.endsWith('old') ? { status: 304 } : redirect));
    const client = things({ baseUrl: url });
    expect((await client.download({ key: 'old' })).status).toBe(304);
    const response = await client.download({ key: 'moved' });
    expect([response.status, response.headers.get('location')]).toEqual([303, elsewhere.url]);
    expect(elsewhere.requests).toEqual([]);
  });

  it('that is refused is an error as of any call', async () => {
    const { url } = await serve(() => ({ status: 404, body: { error: 'object not found', code: 404 } }));
    const client = things({ baseUrl: url });
    expect(await failureOf(client.download({ key: 'k' }))).toMatchObject({
      message: 'object not found',
      code: 404,
    });
    expect(await failureOf(client.head({ key: 'k' }))).toMatchObject({ status: 404 });
  });
});
