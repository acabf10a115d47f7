import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCardProvider } from './card-provider.ts';
import type { Provider } from './provider.ts';

type Answer = (response: ServerResponse) => void;

let answer: Answer;
let server: Server;
let provider: Provider;
beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume().once('end', () => answer(response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  provider = await createCardProvider({ key: 'sk_test_none', url, timeoutMs: 400 });
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

const json =
  (body: string | Buffer, status = 200, headers: Record<string, string | number> = {}): Answer =>
  (response) =>
    void response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(body);
const raw =
  (text: string): Answer =>
  (response) =>
    void response.socket?.end(text);

/** What is no answer of the provider to anything. */
const odd: [string, Answer][] = [
  ['a text', json('"bad gateway"')],
  ['a text with an error', json('"bad gateway"', 502)],
  ['null', json('null')],
  ['null with an error', json('null', 500)],
  ['true', json('true')],
  ['a number', json('0')],
  ['a list', json('[]')],
  ['a list of objects', json('[{"id":"pi_1","object":"payment_intent","status":"succeeded"}]')],
  ['an empty object', json('{}')],
  ['an error without an object of the error', json('{}', 400)],
  ['another object', json('{"id":"evt_1","object":"event","status":"succeeded"}')],
  ['an object without an id', json('{"object":"payment_intent","status":"succeeded"}')],
  ['an object whose members have other types', json('{"id":7,"object":"payment_intent","status":[]}')],
  ['nothing', json('')],
  ['no content', (response) => void response.writeHead(204).end()],
  ['a page of a proxy', json('<html><body>Bad Gateway</body></html>', 502)],
  ['a page that says that all is well', json('<html></html>', 200, { 'Content-Type': 'text/html' })],
  ['half an object', json('{"id":"pi_1","object":"payment_in')],
  ['less than was announced', json('{"id":"pi_1"', 200, { 'Content-Length': 500, Connection: 'close' })],
  ['more than was announced', raw('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}{"id":"pi_1"}')],
  ['what does not end', (response) => endless(response)],
  [
    'what is larger than any answer',
    json(gzipSync(Buffer.alloc(3 * 2 ** 20, ' ')), 200, { 'Content-Encoding': 'gzip' }),
  ],
  ['what is compressed by its own account', json('{}', 200, { 'Content-Encoding': 'gzip' })],
  ['a redirect', json('{}', 302, { Location: 'http://127.0.0.1:1/' })],
  ['an error that is a text', json('{"error":"bad gateway"}', 502)],
  ['an error that is a number', json('{"error":502}', 502)],
  ['an error that is true', json('{"error":true}', 402)],
  ['an error that is null', json('{"error":null}', 500)],
  ['an error without a type', json('{"error":{}}', 402)],
  ['an error whose type is no text', json('{"error":{"type":{"a":1}}}', 402)],
  [
    'an error of a proxy in the form of the provider',
    json('{"error":{"type":"invalid_request_error"}}', 503),
  ],
  ['an error in a success', json('{"error":{"type":"card_error","message":"no"}}')],
  ['an error of an unknown type', json('{"error":{"type":"new_error","message":{"a":1}}}', 500)],
  ['no HTTP', raw('220 mail.example ESMTP\r\n')],
  ['headers without end', raw(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}\r\n\r\n{}`)],
  ['the end of the connection', (response) => void response.destroy()],
  ['silence', () => {}],
  ['silence after the head', (response) => void response.writeHead(200).flushHeaders()],
];

function endless(response: ServerResponse): void {
  response.writeHead(200);
  const more = (): void => {
    if (response.destroyed) return;
    if (response.write(' '.repeat(65_536))) setImmediate(more);
    else response.once('drain', more);
  };
  more();
}

const charge = {
  ...{ id: 'pay_1', tenant: 'acme', amount: 5_000n, currency: 'usd' },
  source: { processorId: 'pm_1', customerId: 'cus_1' },
};
const started = { ...charge, processorId: 'pi_1' };

it.each(odd)('%s is an outcome that is not known, whatever was asked for', async (_, shape) => {
  answer = shape;
  const customer = { id: 'cus_1', processorId: undefined };
  const states = await Promise.all([
    provider.charge(charge),
    provider.lookup(started),
    provider.cancel(started),
    provider.refund({ ...started, id: 're_1', paymentId: 'pay_1' }),
    provider.attach({ id: 'pm_1', token: 'tok_1', tenant: 'acme', customer }),
  ]);
  expect(states.map(({ state }) => state)).toEqual(Array(5).fill('unknown'));
});

it('an error of a card whose members have odd types is a refusal with a text', async () => {
  answer = json('{"error":{"type":"card_error","code":7,"message":["no"],"payment_intent":{"id":{}}}}', 402);
  expect(await provider.charge(charge)).toEqual({
    ...{ state: 'failed', code: 'card_declined', message: 'the card was declined' },
  });
});

it('a method whose members have odd types shows what is known of it', async () => {
  answer = json(
    '{"id":"pm_1","object":"payment_method","type":"card","card":{"last4":4242,"brand":null,"exp_month":"4","exp_year":1e300}}',
  );
  const customer = { id: 'cus_1', processorId: 'cus_9' };
  expect(await provider.attach({ id: 'pm_1', token: 'pm_1', tenant: 'acme', customer })).toEqual({
    state: 'attached',
    method: {
      ...{ processorId: 'pm_1', customerId: 'cus_9', type: 'card', brand: 'unknown', last4: null },
      ...{ expiryMonth: null, expiryYear: null },
    },
  });
});
