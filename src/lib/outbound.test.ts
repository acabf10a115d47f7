import { once } from 'node:events';
import type { LookupAddress } from 'node:dns';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createOutbound, TargetRefused, type Outbound, type OutboundPolicy } from './outbound.ts';

const strict: OutboundPolicy = { allowPrivate: false, allowNetworks: [] };
const loose: OutboundPolicy = { allowPrivate: true, allowNetworks: [] };
const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

/** `answers` are what the name is looked up to, one after the other. */
function outbound(policy: OutboundPolicy, ...answers: string[][]): Outbound {
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
    // The second look-up would lead elsewhere.
    const client = outbound({ allowPrivate: true, allowNetworks: [] }, ['127.0.0.1'], ['203.0.113.1']);
    const answer = await client.send(get(`http://name.example:${port}/`));
    expect(answer.body.toString()).toBe('ok');
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
