import { get, type IncomingMessage } from 'node:http';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { KeyVerdict } from './credentials.ts';
import { demoServer, token } from './fixture/server.ts';

const thing = '/v1/things/thing_01m7w4n5e0f7drekxj50y51wjg';
type Server = Awaited<ReturnType<typeof demoServer>>;

async function withServer(use: (server: Server) => Promise<void>): Promise<void> {
  const server = await demoServer();
  await use(server).finally(() => server.close());
}

describe('an event stream', () => {
  test('carries its events as they come, and hears when the client goes', () =>
    withServer(async (server) => {
      const stream = await open(server, '/v1/events');
      expect(stream.res.headers).toMatchObject({
        'content-type': 'text/event-stream',
        'x-request-id': expect.any(String),
      });
      await vi.waitFor(() =>
        expect(stream.text()).toBe(
          ': hello\n\nevent: change\nid: 5\ndata: {"seq":5}\n\ndata: two\ndata: lines\n\n',
        ),
      );
      expect(server.state.streams).toEqual([]);
      stream.res.destroy();
      await vi.waitFor(() => expect(server.state.streams).toEqual(['aborted']));
      await vi.waitFor(() => expect(server.lines.some((line) => line.includes('"aborted":true'))).toBe(true));
    }));

  test('that is refused is an ordinary error', () =>
    withServer(async (server) => {
      const refused = await server.send('GET', '/v1/events', { headers: { 'last-event-id': '1' } });
      expect(refused).toMatchObject({ status: 410, message: 'event is too old' });
    }));

  test('that fails on its way ends with an error event that says nothing of the inside', () =>
    withServer(async (server) => {
      const { text } = await server.send('GET', '/v1/events', { headers: { 'last-event-id': '2' } });
      expect(text).toMatch(/event: error\ndata: \{"error":\{"code":500,"message":"internal error"\}\}\n\n$/);
      expect(text).not.toContain('inside');
      expect(server.log()).toContain('inside');
    }));

  test('is refused when one caller has too many, until one of them ends', () =>
    withServer(async (server) => {
      const crowd = await Promise.all(Array.from({ length: 100 }, () => open(server, '/v1/events')));
      expect(crowd.every(({ res }) => res.statusCode === 200)).toBe(true);
      expect(await server.send('GET', '/v1/events')).toMatchObject({
        status: 503,
        message: 'too many requests at once, try again',
      });
      expect((await server.send('GET', thing)).status).toBe(200);
      expect((await server.send('HEAD', '/v1/events')).status).toBe(200);
      crowd[0]!.res.destroy();
      await vi.waitFor(async () => {
        const again = await open(server, '/v1/events');
        expect(again.res.statusCode).toBe(200);
      });
      for (const { res } of crowd) res.destroy();
    }));

  test('ends when the server does, as a stream that was complete', () =>
    withServer(async (server) => {
      const stream = await open(server, '/v1/events');
      await vi.waitFor(() => expect(stream.text()).toContain('two'));
      await server.close();
      expect(await stream.end).toBe('end');
      expect(server.state.streams).toEqual(['aborted']);
    }));
});

describe('the credential of a stream', () => {
  const key = `sk_live_${'a'.repeat(55)}`;
  const valid: KeyVerdict = {
    ...{ valid: true, code: 'VALID', scopes: ['*'], retry_after: null },
    key: { id: 'key_1', tenant_id: 'default', app_id: 'default' },
  };
  afterEach(() => void vi.useRealTimers());

  /** Opens a stream with a key, changes what is said of the key, and lets half a minute pass. */
  async function after(change: Partial<KeyVerdict>, check: (stream: Stream, asked: number) => Promise<void>) {
    const verdict = { ...valid };
    const server = await demoServer({ verdict });
    try {
      vi.useFakeTimers({ toFake: ['setInterval'] });
      const stream = await open(server, '/v1/events', key);
      await vi.waitFor(() => expect(stream.text()).toContain('two'));
      Object.assign(verdict, change);
      const asked = server.asked.length;
      vi.advanceTimersByTime(30_000);
      await vi.waitFor(() => expect(server.asked.length).toBeGreaterThan(asked));
      await check(stream, asked);
    } finally {
      vi.useRealTimers();
      await server.close();
    }
  }

  test.each([
    ['that is withdrawn', { valid: false, code: 'REVOKED' }],
    ['that may no longer do this', { scopes: [] }],
  ])('%s ends it within a minute', (_, change) =>
    after(change, async ({ end }) => expect(await end).toBe('end')),
  );

  test('whose rate is used up is still good', () =>
    after({ valid: false, code: 'RATE_LIMITED' }, async ({ res }) => {
      expect(res.readableEnded).toBe(false);
      res.destroy();
    }));
});

describe('the end of the server', () => {
  test('waits for requests in flight and takes no new ones', () =>
    withServer(async (server) => {
      let open = () => {};
      server.state.gate = new Promise((resolve) => (open = resolve));
      const inFlight = server.send('GET', thing);
      await vi.waitFor(() => expect(server.state.waiting).toBe(1));
      const closed = server.close();
      await vi.waitFor(() => expect(fetch(server.origin)).rejects.toThrow());
      open();
      expect((await inFlight).status).toBe(200);
      await closed;
    }));

  test('does not wait for ever: after the grace the connection is cut', () =>
    withServer(async (server) => {
      server.state.gate = new Promise(() => {});
      const inFlight = server.send('GET', thing).catch(() => 'cut');
      await vi.waitFor(() => expect(server.state.waiting).toBe(1));
      await server.close(50);
      expect(await inFlight).toBe('cut');
    }));

  test('is said by /readyz before', () =>
    withServer(async (server) => {
      expect(await (await fetch(`${server.origin}/readyz`)).json()).toEqual({ status: 'ready' });
      server.end();
      const answer = await fetch(`${server.origin}/readyz`);
      expect([answer.status, await answer.json()]).toEqual([
        503,
        { status: 'not ready', problem: 'shutting down' },
      ]);
      expect((await fetch(`${server.origin}/healthz`)).status).toBe(200);
    }));
});

test('a client that goes away while the handler works harms nothing', () =>
  withServer(async (server) => {
    let open = () => {};
    server.state.gate = new Promise((resolve) => (open = resolve));
    const request = get(server.url + thing, { headers: { authorization: `Bearer ${token}` } }).on(
      'error',
      () => {},
    );
    await vi.waitFor(() => expect(server.state.waiting).toBe(1));
    request.destroy();
    await vi.waitFor(() => expect(server.lines.some((line) => line.includes('"aborted":true'))).toBe(true));
    open();
    server.state.gate = undefined;
    expect((await server.send('GET', thing)).status).toBe(200);
  }));

/** Opens a stream and collects what it sends. */
function open(server: Server, path: string, bearer = token) {
  return new Promise<Stream>((resolve, reject) => {
    const request = get(server.url + path, { headers: { authorization: `Bearer ${bearer}` } }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (part: string) => (text += part));
      const end = new Promise<string>((settle) =>
        res.on('end', () => settle('end')).on('error', () => settle('error')),
      );
      resolve({ res, text: () => text, end });
    });
    request.on('error', reject);
  });
}

interface Stream {
  readonly res: IncomingMessage;
  readonly text: () => string;
  readonly end: Promise<string>;
}
