import type { ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { inTurn, serve, type Respond } from './server.ts';
import { all, failureOf, things } from './things.ts';

const headers = { 'Content-Type': 'text/event-stream' };
/** Sends these texts and leaves the stream open, or ends or breaks it. */
const stream =
  (texts: string[], after: 'open' | 'end' | 'break' = 'end'): Respond =>
  (_, response: ServerResponse) => {
    response.writeHead(200, headers);
    response.write(texts.join(''), () => {
      if (after === 'end') response.end();
      if (after === 'break') response.destroy();
    });
    return undefined;
  };
const changed = (id: number) => `event: changed\nid: ${id}\ndata: {"id":${id}}\n\n`;

describe('an event stream', () => {
  it('is its typed events, without the heartbeats, to its end', async () => {
    const { url, requests } = await serve(
      stream([': beat\n\n', changed(1), 'event: token\ndata: 42\n\n', ':\n\n', changed(2)]),
    );
    const events = await all(things({ baseUrl: url }).watch());
    expect(events).toEqual([
      { event: 'changed', id: '1', data: { id: 1 } },
      { event: 'token', id: '1', data: '42' },
      { event: 'changed', id: '2', data: { id: 2 } },
    ]);
    expect(requests[0]?.headers.accept).toBe('text/event-stream');
  });

  it('keeps characters whole that are cut between two pieces', async () => {
    const bytes = Buffer.from('event: token\ndata: größe €\r\n\r\n');
    const { url } = await serve((_, response) => {
      response.writeHead(200, headers);
      const send = (at: number): void => {
        if (at === bytes.length) response.end();
        else response.write(bytes.subarray(at, at + 1), () => setImmediate(send, at + 1));
      };
      send(0);
      return undefined;
    });
    expect(await all(things({ baseUrl: url }).watch())).toEqual([{ event: 'token', data: 'größe €' }]);
  });

  it('is not asked for before it is read', async () => {
    const { url, requests } = await serve(stream([changed(1)]));
    const events = things({ baseUrl: url }).watch();
    expect(requests).toHaveLength(0);
    const { response } = await events.response();
    expect(response.status).toBe(200);
    expect(await all(events)).toHaveLength(1);
    expect(requests).toHaveLength(1);
  });

  it('passes over events of a newer server', async () => {
    const { url } = await serve(stream(['event: novelty\ndata: {}\n\n', changed(1)]));
    expect(await all(things({ baseUrl: url }).watch())).toHaveLength(1);
  });

  it('throws the error with which the server ends it', async () => {
    const error = 'event: error\ndata: {"error":"store unavailable","code":"unavailable"}\n\n';
    const { url } = await serve(stream([changed(1), error]));
    const failure = await failureOf(all(things({ baseUrl: url }).watch()));
    expect(failure).toMatchObject({ kind: 'stream', code: 'unavailable', message: 'store unavailable' });
  });

  it('throws what the server answers in its place', async () => {
    const { url } = await serve(() => ({ status: 410, body: { error: 'gone', code: 'gone' } }));
    expect(await failureOf(all(things({ baseUrl: url }).watch()))).toMatchObject({ status: 410 });
  });

  it('throws when data is not what the contract says', async () => {
    const { url } = await serve(stream(['event: changed\ndata: {"id":\n\n']));
    expect(await failureOf(all(things({ baseUrl: url }).watch()))).toMatchObject({ kind: 'protocol' });
  });

  it('throws when the connection breaks', async () => {
    const { url } = await serve(stream([changed(1)], 'break'));
    expect(await failureOf(all(things({ baseUrl: url }).watch()))).toMatchObject({ kind: 'connection' });
  });

  it('throws when it is silent for longer than a try may take', async () => {
    const { url } = await serve(stream([changed(1)], 'open'));
    const failure = await failureOf(all(things({ baseUrl: url, timeout: 50 }).watch()));
    expect(failure).toMatchObject({ kind: 'timeout' });
  });

  it('lasts longer than a try may take while there are heartbeats', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const fetch = ({ signal }: Request) => {
      signal.addEventListener('abort', () => void writer.abort(signal.reason).catch(() => {}));
      return Promise.resolve(new Response(readable, { headers }));
    };
    const events = all(things({ baseUrl: 'http://plinth.invalid', timeout: 1_000, fetch }).watch());
    for (let beat = 0; beat < 5; beat += 1) {
      await writer.write(Buffer.from(':\n\n'));
      await vi.advanceTimersByTimeAsync(999);
    }
    await writer.write(Buffer.from(changed(1)));
    await writer.close();
    expect(await events).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each(['break', 'abort'] as const)('closes its connection on %s', async (how) => {
    const closed = vi.fn();
    const { url } = await serve((request, response) => {
      response.on('close', closed);
      return stream([changed(1)], 'open')(request, response);
    });
    const controller = new AbortController();
    const walk = async () => {
      for await (const event of things({ baseUrl: url }).watch({}, { signal: controller.signal })) {
        expect(event.id).toBe('1');
        if (how === 'break') return;
        controller.abort(new Error('enough'));
      }
    };
    if (how === 'break') await walk();
    else expect(await failureOf(walk())).toMatchObject({ kind: 'abort', cause: { message: 'enough' } });
    await vi.waitFor(() => expect(closed).toHaveBeenCalled());
  });

  it('goes on from the last event when asked to, until the server has nothing more', async () => {
    const { url, requests } = await serve(
      inTurn(stream(['retry: 1\n', changed(1)], 'break'), stream(['retry: 1\n', changed(2)], 'end'), () => ({
        status: 204,
      })),
    );
    const events = await all(things({ baseUrl: url }).watch({}, { reconnect: true }));
    expect(events.map(({ id }) => id)).toEqual(['1', '2']);
    expect(requests.map((request) => request.headers['last-event-id'])).toEqual([undefined, '1', '2']);
  });

  it('goes on from the event that the request names, and then from the last', async () => {
    const { url, requests } = await serve(
      inTurn(stream(['retry: 1\n', changed(6)]), () => ({ status: 204 })),
    );
    await all(things({ baseUrl: url }).watch({ 'Last-Event-ID': '5' }, { reconnect: true }));
    expect(requests.map((request) => request.headers['last-event-id'])).toEqual(['5', '6']);
  });

  it('gives up when connecting again fails for good', async () => {
    const { url } = await serve(
      inTurn(stream(['retry: 1\n', changed(1)]), () => ({ status: 401, body: { error: 'no' } })),
    );
    const walk = all(things({ baseUrl: url }).watch({}, { reconnect: true }));
    expect(await failureOf(walk)).toMatchObject({ status: 401 });
  });

  it('does not come back after the signal aborted', async () => {
    const controller = new AbortController();
    const { url, requests } = await serve((request, response) => {
      response.on('close', () => setImmediate(() => controller.abort(new Error('enough'))));
      return stream(['retry: 60000\n', changed(1)])(request, response);
    });
    const options = { reconnect: true, signal: controller.signal };
    const walk = all(things({ baseUrl: url }).watch({}, options));
    expect(await failureOf(walk)).toMatchObject({ kind: 'abort', cause: { message: 'enough' } });
    expect(requests).toHaveLength(1);
  });
});

describe('a stream that a POST begins', () => {
  it('is not begun again when it ends, whatever the options say', async () => {
    const { url, requests } = await serve((_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.end('retry: 1\nevent: token\ndata: x\n\n');
      return undefined;
    });
    const events = await all(things({ baseUrl: url }).begin({}, { reconnect: true }));
    expect([events.length, requests.length]).toEqual([1, 1]);
  });
});

describe('a stream whose events are kept', () => {
  const kept: Respond = ({ headers }, response) => {
    if (headers.accept === 'application/json') return { body: [{ id: 1 }] };
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.end('event: changed\nid: 1\ndata: {"id":1}\n\nevent: token\ndata: x\n\n');
    return undefined;
  };

  it('is the events so far when awaited, and those to come as well when walked', async () => {
    const { url, requests } = await serve(kept);
    const client = things({ baseUrl: url });
    expect(await client.record({ after: 0 })).toEqual([{ id: 1 }]);
    expect(await all(client.record({ after: 0 }))).toEqual([
      { event: 'changed', id: '1', data: { id: 1 } },
      { event: 'token', id: '1', data: 'x' },
    ]);
    expect(requests.map(({ headers }) => headers.accept)).toEqual(['application/json', 'text/event-stream']);
    expect(requests.map((request) => request.url)).toEqual(Array(2).fill('/things/v1/things/record?after=0'));
  });

  it('asks nothing before it is awaited or walked', async () => {
    const { url, requests } = await serve(kept);
    const stream = things({ baseUrl: url }).record();
    await new Promise((resolve) => setImmediate(resolve));
    expect(requests).toEqual([]);
    await stream;
    expect(requests).toHaveLength(1);
  });

  it('rejects as any call does', async () => {
    const { url } = await serve(() => ({ status: 404, body: { error: 'run not found' } }));
    expect(await failureOf(things({ baseUrl: url }).record())).toMatchObject({
      status: 404,
      operation: 'things.things.record',
      message: 'run not found',
    });
  });

  it('is an error when walked where JSON comes instead of events', async () => {
    const { url } = await serve(() => ({ body: [{ id: 1 }] }));
    expect(await failureOf(all(things({ baseUrl: url }).record()))).toMatchObject({ kind: 'protocol' });
  });
});
