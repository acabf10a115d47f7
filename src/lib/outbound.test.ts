import { once } from 'node:events';
import type { LookupAddress } from 'node:dns';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import {
  AnswerTooLarge,
  createOutbound,
  TargetRefused,
  type Outbound,
  type OutboundMethod,
  type OutboundOptions,
} from './outbound.ts';

const strict: OutboundOptions = { allowPrivate: false, allowNetworks: [] };
const loose: OutboundOptions = { allowPrivate: true, allowNetworks: [] };
const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

/** Creates a client whose lookups return the `answers`, one after the other. */
function outbound(policy: OutboundOptions, ...answers: string[][]): Outbound {
  const made = createOutbound(policy, (_hostname, _options, done) => {
    const addresses = (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
    done(
      null,
      addresses.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  });
  open.push(made);
  return made;
}

async function server(answer: RequestListener): Promise<{ port: number; server: Server }> {
  const listening = createServer(answer).listen(0, '127.0.0.1');
  await once(listening, 'listening');
  open.push({
    close: () => {
      listening.closeAllConnections();
      listening.close();
    },
  });
  return { port: (listening.address() as AddressInfo).port, server: listening };
}

const get = (url: string) => ({ url, method: 'GET', timeoutMs: 5_000, maxBytes: 1_024 }) as const;

describe('a URL', () => {
  it.each([
    ['https://example.com/hooks', undefined],
    ['https://example.com:8443/hooks?a=b', undefined],
    ['http://example.com/', 'must be an https URL'],
    ['ftp://example.com/', 'must be an https URL'],
    ['/hooks', 'must be an absolute URL'],
    ['https://', 'must be an absolute URL'],
    ['https://user:pass@example.com/', 'must not carry a user name or password'],
    ['https://example.com/#part', 'must not have a fragment'],
    ['https://example.com:0/', 'must not name port 0'],
    ['https://8.8.8.8/', undefined],
    ['https://127.0.0.1/', 'address not allowed'],
    ['https://127.1/', 'address not allowed'],
    ['https://2130706433/', 'address not allowed'],
    ['https://0x7f000001/', 'address not allowed'],
    ['https://0177.0.0.1/', 'address not allowed'],
    ['https://１２７.0.0.1/', 'address not allowed'],
    ['https://example.com:25/', 'must not name port 25'],
    ['https://example.com:6667/', 'must not name port 6667'],
    ['https://*.example.com/', 'must not hold a wildcard'],
    ['https://10.1.2.3/', 'address not allowed'],
    ['https://172.16.0.1/', 'address not allowed'],
    ['https://192.168.1.1/', 'address not allowed'],
    ['https://100.64.0.1/', 'address not allowed'],
    ['https://169.254.169.254/latest/meta-data', 'address not allowed'],
    ['https://168.63.129.16/', 'address not allowed'],
    ['https://0.0.0.0/', 'address not allowed'],
    ['https://255.255.255.255/', 'address not allowed'],
    ['https://224.0.0.1/', 'address not allowed'],
    ['https://198.18.0.1/', 'address not allowed'],
    ['https://[::1]/', 'address not allowed'],
    ['https://[::]/', 'address not allowed'],
    ['https://[::ffff:10.0.0.1]/', 'address not allowed'],
    ['https://[::ffff:8.8.8.8]/', undefined],
    ['https://[64:ff9b::a00:1]/', 'address not allowed'],
    ['https://[2002:a00:1::]/', 'address not allowed'],
    ['https://[fe80::1]/', 'address not allowed'],
    ['https://[fd00::1]/', 'address not allowed'],
    ['https://[ff02::1]/', 'address not allowed'],
    ['https://[2606:4700::1111]/', undefined],
  ])('%s: %s', (url, refusal) => expect(outbound(strict).judge(url)).toBe(refusal));

  it('may be private and plain where that is allowed', () => {
    expect(outbound(loose).judge('http://127.0.0.1:3000/')).toBeUndefined();
    const some = outbound({ allowPrivate: false, allowNetworks: ['10.0.0.0/8', 'fd00::/8'] });
    expect(some.judge('http://10.1.2.3/')).toBeUndefined();
    expect(some.judge('https://[fd00::1]/')).toBeUndefined();
    expect(some.judge('http://192.168.1.1/')).toBe('must be an https URL');
    expect(outbound(loose).judge('http://127.0.0.1:22/')).toBe('must not name port 22');
  });

  it('may be refused by its network or its port, whatever else is allowed', () => {
    const some = outbound({
      ...loose,
      refuseNetworks: ['10.0.0.0/8', '8.8.8.8/32'],
      refusedPorts: new Set([8443]),
    });
    expect(some.judge('http://10.1.2.3/')).toBe('address not allowed');
    expect(some.judge('https://8.8.8.8/')).toBe('address not allowed');
    expect(some.judge('https://example.com:8443/')).toBe('must not name port 8443');
    expect(some.judge('https://example.com:25/')).toBeUndefined();
  });
});

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
    open.push(client);
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

describe('a redirect that is followed', () => {
  /** A server that redirects `/from` to `target` with `status`, and reports every other request that it gets. */
  const pair = async (status: number, target: (port: number) => string) => {
    const { port } = await server((req, res) => {
      if (req.url === '/from') return void res.writeHead(status, { location: target(port) }).end('moved');
      const { authorization, accept, 'content-type': type } = req.headers;
      const seen = { method: req.method, url: req.url, authorization, accept, type };
      void text(req).then((body) => res.end(JSON.stringify({ ...seen, body })));
    });
    return `http://127.0.0.1:${port}/from`;
  };
  const post = (url: string) =>
    ({
      ...get(url),
      method: 'POST',
      headers: { Authorization: 'Bearer secret', Accept: 'text/plain', 'Content-Type': 'text/plain' },
      body: 'sent',
      redirects: 1,
    }) as const;
  const told = async (url: string) =>
    JSON.parse((await outbound(loose, ['127.0.0.1']).send(post(url))).body.toString()) as object;

  it.each([301, 302, 303])('with status %i is a GET without the body', async (status) => {
    expect(await told(await pair(status, () => '/to'))).toEqual({
      ...{ method: 'GET', url: '/to', body: '' },
      ...{ authorization: 'Bearer secret', accept: 'text/plain' },
    });
  });

  it.each([307, 308])('with status %i is the same request', async (status) => {
    expect(await told(await pair(status, () => '/to#part'))).toEqual({
      ...{ method: 'POST', url: '/to', body: 'sent' },
      ...{ authorization: 'Bearer secret', accept: 'text/plain', type: 'text/plain' },
    });
  });

  it('to another origin carries no credential', async () => {
    const url = await pair(307, (port) => `http://other.example:${port}/to`);
    expect(await told(url)).toEqual({
      ...{ method: 'POST', url: '/to', body: 'sent' },
      ...{ accept: 'text/plain', type: 'text/plain' },
    });
  });

  it.each([
    ['a refused port', 'http://127.0.0.1:25/', 'must not name port 25'],
    ['another scheme', 'file:///etc/passwd', 'must be an https URL'],
    ['a refused network', 'http://10.0.0.1/', 'address not allowed'],
  ])('to %s is refused', async (_, target, message) => {
    const url = await pair(302, () => target);
    const client = outbound({ ...loose, refuseNetworks: ['10.0.0.0/8'] });
    await expect(client.send(post(url))).rejects.toMatchObject({ name: 'TargetRefused', message });
  });

  it('is the answer when it is one too many', async () => {
    const url = await pair(302, () => '/from');
    expect((await outbound(loose).send({ ...get(url), redirects: 3 })).status).toBe(302);
  });

  it('cannot repeat a body that was streamed', async () => {
    const url = await pair(307, () => '/to');
    async function* body() {
      yield Buffer.from('sent');
    }
    await expect(outbound(loose).send({ ...post(url), body: body() })).rejects.toThrow(/streamed/);
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
