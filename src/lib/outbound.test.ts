import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AnswerTooLarge, createOutbound, TargetRefused, type OutboundMethod } from './outbound.ts';
import { oddities, oddServer } from '../testing/odd-server.ts';
import { get, loose, outbound, server, strict } from './testing/outbound.ts';

describe('a name', () => {
  it.each([[['10.0.0.1']], [['8.8.8.8', '127.0.0.1']], [['::ffff:127.0.0.1']], [['64:ff9b::7f00:1']], [[]]])(
    'that is looked up to %j is refused',
    async (addresses) => {
      await expect(outbound(strict, addresses).send(get('https://name.example/'))).rejects.toBeInstanceOf(
        TargetRefused,
      );
    },
  );

  it('is looked up once: what was judged is what is connected to', async () => {
    const { port } = await server((_req, res) => res.end('ok'));
    // A second lookup would return another address.
    const client = outbound({ allowPrivate: true, allowNetworks: [] }, ['127.0.0.1'], ['203.0.113.1']);
    const answer = await client.send(get(`http://name.example:${port}/`));
    expect(answer.body.toString()).toBe('ok');
  });
});

describe('a request', () => {
  const methods: OutboundMethod[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
  it.each(methods)('may be a %s', async (method) => {
    const { port } = await server((req, res) => res.setHeader('X-Method', req.method!).end());
    const answer = await outbound(loose).send({ ...get(`http://127.0.0.1:${port}/`), method });
    expect([answer.status, answer.headers['x-method']]).toEqual([200, method]);
  });

  it('sends its body piece by piece, no faster than the other side takes it', async () => {
    const { port } = await server((req, res) => {
      req.once('data', (piece: Buffer) => {
        req.pause();
        res.end(piece);
      });
    });
    let made = 0;
    async function* body() {
      yield Buffer.from('first');
      for (; made < 1_000; made++) yield Buffer.alloc(65_536);
    }
    const request = { ...get(`http://127.0.0.1:${port}/`), method: 'PUT', body: body() } as const;
    expect((await outbound(loose).send(request)).body.toString()).toMatch(/^first/);
    expect(made).toBeLessThan(1_000);
  });

  it('ends when it is aborted, and with it the reading of its body', async () => {
    const { port } = await server((req) => req.resume());
    const abort = new AbortController();
    async function* body() {
      yield Buffer.from('first');
      abort.abort(new Error('no longer needed'));
      yield* [];
    }
    const request = { ...get(`http://127.0.0.1:${port}/`), method: 'POST', body: body() } as const;
    await expect(outbound(loose).send({ ...request, signal: abort.signal })).rejects.toThrow(
      'no longer needed',
    );
  });

  it('is given up when no connection is made in time', async () => {
    const client = createOutbound({ ...loose, connectMs: 50 }, () => {});
    onTestFinished(() => client.close());
    await expect(client.send(get('http://name.example/'))).rejects.toMatchObject({
      code: 'UND_ERR_CONNECT_TIMEOUT',
    });
  });

  it('is given up when the head of the answer does not begin in time', async () => {
    const { port } = await server(() => {});
    const request = { ...get(`http://127.0.0.1:${port}/`), headersMs: 50 };
    await expect(outbound(loose).send(request)).rejects.toMatchObject({ code: 'UND_ERR_HEADERS_TIMEOUT' });
  });
});

describe('a connection', () => {
  it('speaks HTTP/1.1 only, whatever the other side offers', async () => {
    const offered = Promise.withResolvers<readonly string[]>();
    const listening = createTlsServer({
      ALPNCallback({ protocols }) {
        offered.resolve(protocols);
        return undefined;
      },
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void listening.close());
    await once(listening, 'listening');
    const { port } = listening.address() as AddressInfo;
    await expect(outbound(loose).send(get(`https://127.0.0.1:${port}/`))).rejects.toThrow();
    expect(await offered.promise).toEqual(['http/1.1']);
  });

  it('that is cut off as soon as it is made was no forbidden one', async () => {
    const { port } = await server((_req, res) => res.end());
    // So does a socket answer whose other side has gone.
    const forget = (message: unknown) =>
      Object.defineProperty((message as { socket: Socket }).socket, 'remoteAddress', { value: undefined });
    subscribe('net.client.socket', forget);
    onTestFinished(() => void unsubscribe('net.client.socket', forget));
    const client = outbound(loose);
    await expect(client.send(get(`http://127.0.0.1:${port}/`))).rejects.toMatchObject({ code: 'ECONNRESET' });
  });
});

describe('a streamed answer', () => {
  const read = async (body: AsyncIterable<Uint8Array>) => {
    let text = '';
    for await (const piece of body) text += Buffer.from(piece).toString();
    return text;
  };

  it('begins with its head, and continues as it is made', async () => {
    let finish = () => {};
    const { port } = await server((_req, res) => {
      res.writeHead(200, { 'x-kind': 'tokens' }).write('first ');
      finish = () => res.end('second');
    });
    const answer = await outbound(loose).stream(get(`http://127.0.0.1:${port}/`));
    expect([answer.status, answer.headers['x-kind']]).toEqual([200, 'tokens']);
    finish();
    expect(await read(answer.body)).toBe('first second');
  });

  it('that is larger than allowed is an error', async () => {
    const { port } = await server((_req, res) => res.end('x'.repeat(1_025)));
    const answer = await outbound(loose).stream(get(`http://127.0.0.1:${port}/`));
    await expect(read(answer.body)).rejects.toBeInstanceOf(AnswerTooLarge);
  });

  it('that falls silent is given up', async () => {
    const { port } = await server((_req, res) => void res.writeHead(200).write('x'));
    const answer = await outbound(loose).stream({ ...get(`http://127.0.0.1:${port}/`), silenceMs: 50 });
    await expect(read(answer.body)).rejects.toMatchObject({ code: 'UND_ERR_BODY_TIMEOUT' });
  });

  it('is dropped with its connection when nobody reads it', async () => {
    const gone = Promise.withResolvers<void>();
    const { port } = await server((_req, res) => {
      res.on('close', () => gone.resolve());
      res.writeHead(200).write('x');
    });
    const answer = await outbound(loose).stream(get(`http://127.0.0.1:${port}/`));
    answer.discard();
    await gone.promise;
  });
});

describe('an answer', () => {
  it('is read to the limit only', async () => {
    const { port } = await server((_req, res) => res.end('x'.repeat(10_000_000)));
    const answer = await outbound(loose).send(get(`http://127.0.0.1:${port}/`));
    expect([answer.status, answer.body.length]).toEqual([200, 1_024]);
  });

  it('that redirects is the answer', async () => {
    const { port } = await server((_req, res) =>
      res.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    );
    const answer = await outbound(loose).send(get(`http://127.0.0.1:${port}/`));
    expect([answer.status, answer.headers['location']]).toEqual([302, 'http://169.254.169.254/']);
  });

  it.each<[string, RequestListener]>([
    ['that does not begin', () => {}],
    ['that does not end', (_req, res) => void res.writeHead(200).write('x')],
  ])('%s in time is given up', async (_, listener) => {
    const { port } = await server(listener);
    const slow = { ...get(`http://127.0.0.1:${port}/`), timeoutMs: 100 };
    await expect(outbound(loose).send(slow)).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

it.each(oddities)(
  'a receiver that %s fails the request or cuts its answer, and nothing else',
  async (_, oddity) => {
    const client = createOutbound(loose);
    const asked = { url: `http://127.0.0.1:${await oddServer(oddity)}/`, timeoutMs: 300, maxBytes: 1_000 };
    const pieces = async function* () {
      yield Buffer.from('a');
      yield Buffer.from('b');
    };
    const outcomes = await Promise.allSettled([
      client.send({ ...asked, method: 'GET' }),
      client.send({ ...asked, method: 'POST', body: pieces() }),
      client.stream({ ...asked, method: 'GET' }).then((answer) => answer.discard()),
    ]);
    for (const outcome of outcomes)
      if (outcome.status === 'fulfilled')
        expect(outcome.value ?? { status: 400 }).toMatchObject({ status: 400 });
    await client.close();
  },
);
