import { createHmac, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { newWebhookSecret, signatureHeaders } from '../../src/lib/standard-webhooks.ts';
import { isWebhookError, verifyWebhook, type WebhookHeaders } from '../src/index.ts';

const secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const previous = 'whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=';
const id = 'evt_01m7w4n5e0ex5vsknk084sn02q';
const now = 1_795_167_000;
const body =
  '{"type":"invoice.paid","timestamp":"2026-11-20T09:30:00.000Z","data":{"invoice_id":"inv_01h455vb4pex5vsknk084sn02q","amount":4900}}';

const signed = (text = body, seconds = now, secrets = [secret]) =>
  signatureHeaders(secrets, { id, seconds, body: text });

/** Returns the problem of a delivery, or its event. */
const outcome = async (
  raw: Parameters<typeof verifyWebhook>[0],
  headers: WebhookHeaders,
  secrets: string | readonly string[] = secret,
) => {
  try {
    return (await verifyWebhook<unknown>(raw, headers, secrets)).event;
  } catch (error) {
    if (!isWebhookError(error)) throw error;
    return `${error.problem}: ${error.message}`;
  }
};

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: now * 1_000 }));
afterEach(() => void vi.useRealTimers());

describe('a delivery that the sender signed', () => {
  it('is verified by the vector of the Standard Webhooks specification', async () => {
    vi.setSystemTime(1_614_265_330_000);
    const headers = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    };
    const specified = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    expect(await outcome('{"test": 2432232314}', headers, specified)).toEqual({ test: 2432232314 });
  });

  it('is verified by our published vector, by the current secret and by the previous one', async () => {
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(now),
      'webhook-signature':
        'v1,dMHpiE2EgeCo7SFe0XoadVn6fkjTCqS+a9FF1f+CZyY= v1,IQQMbQJl7YJipBIkUPxju4iAXeE91+Ds4bFNtI5E+ZY=',
    };
    for (const one of [secret, previous, [newWebhookSecret(), previous]])
      expect(await verifyWebhook(body, headers, one)).toEqual({
        id,
        sentAt: new Date(now * 1_000),
        event: JSON.parse(body),
      });
  });

  it('is verified by the library of the specification, and what the library signs is verified here', async () => {
    const text = fc.string({ unit: 'grapheme' }).map((value) => JSON.stringify({ type: 'a.b', data: value }));
    await fc.assert(
      fc.asyncProperty(text, fc.uint8Array({ minLength: 24, maxLength: 64 }), async (payload, key) => {
        const own = `whsec_${Buffer.from(key).toString('base64')}`;
        const library = new Webhook(own);
        const theirs = {
          'webhook-id': 'msg_1',
          'webhook-timestamp': String(now),
          'webhook-signature': library.sign('msg_1', new Date(now * 1_000), payload),
        };
        expect(await outcome(payload, theirs, own)).toEqual(JSON.parse(payload));
        expect(library.verify(payload, signed(payload, now, [own]))).toEqual(JSON.parse(payload));
      }),
    );
  });

  it.each([
    ['text', body],
    ['bytes', new TextEncoder().encode(body)],
    ['a buffer of Node, which is part of a larger one', Buffer.from(`xx${body}`).subarray(2)],
    ['an ArrayBuffer', new TextEncoder().encode(body).buffer],
  ])('may arrive as %s', async (_, raw) => {
    expect(await outcome(raw, signed())).toEqual(JSON.parse(body));
  });

  it.each<[string, (headers: Record<string, string>) => WebhookHeaders]>([
    ['Headers', (headers) => new Headers(headers)],
    ['an object with names in any case', upperCase],
    [
      'the headers of Node',
      (headers) => ({ ...headers, host: 'x', 'set-cookie': ['a', 'b'], te: undefined }),
    ],
    ['the distinct headers of Node', (headers) => mapped(headers, (value) => [value])],
    ['the raw headers of Node', (headers) => Object.entries(upperCase(headers)).flat()],
    ['pairs', (headers) => Object.entries(headers)],
  ])('may have its headers as %s', async (_, form) => {
    expect(await outcome(body, form(signed()))).toEqual(JSON.parse(body));
  });

  it('may be signed by several secrets, of which the receiver has one, and in ways that it does not know', async () => {
    const others = Array.from({ length: 4 }, newWebhookSecret);
    const headers = signed(body, now, [...others, secret]);
    headers['webhook-signature'] = `v1a,${'A'.repeat(86)}== v2,x ${headers['webhook-signature']}`;
    expect(await outcome(body, headers, [newWebhookSecret(), secret])).toEqual(JSON.parse(body));
    expect(await outcome(body, headers, newWebhookSecret())).toMatch(/^signature: /);
  });

  it.each([-300, -299, 0, 299, 300])(
    'is accepted when its clock differs by %d seconds',
    async (difference) => {
      expect(await outcome(body, signed(body, now + difference))).toEqual(JSON.parse(body));
    },
  );

  it('is what was verified, even if the bytes change meanwhile', async () => {
    const bytes = new TextEncoder().encode(body);
    const verified = outcome(bytes, signed());
    bytes.fill(0x20);
    expect(await verified).toEqual(JSON.parse(body));
  });
});

describe('a delivery that must not be trusted', () => {
  it('is refused when any bit of its body, id, timestamp or signature differs', async () => {
    const bytes = Buffer.from(body);
    const differing = fc.record({ at: fc.nat(bytes.length - 1), bit: fc.nat(7) });
    await fc.assert(
      fc.asyncProperty(differing, async ({ at, bit }) => {
        const other = Buffer.from(bytes);
        other[at]! ^= 1 << bit;
        expect(await outcome(other, signed())).toMatch(/^signature: /);
      }),
    );
    const headers = signed();
    const signature = headers['webhook-signature'];
    const rest = fc.integer({ min: 3, max: signature.length - 2 });
    await fc.assert(
      fc.asyncProperty(rest, async (at) => {
        const letter = signature[at] === 'A' ? 'B' : 'A';
        const other = signature.slice(0, at) + letter + signature.slice(at + 1);
        expect(await outcome(body, { ...headers, 'webhook-signature': other })).toMatch(/^signature: /);
      }),
    );
    for (const other of [
      { 'webhook-id': 'evt_01m7w4n5e0ex5vsknk084sn02r' },
      { 'webhook-timestamp': String(now - 1) },
      { 'webhook-signature': signature.replace('v1,', 'v2,') },
      { 'webhook-signature': signature.slice(0, -1) },
      { 'webhook-signature': `${signature}=` },
    ])
      expect(await outcome(body, { ...headers, ...other })).toMatch(/^signature: /);
    expect(await outcome(`${body} `, headers)).toMatch(/^signature: /);
    expect(await outcome('', headers)).toMatch(/^signature: /);
  });

  it.each([
    ['stale', -301],
    ['stale', -now],
    ['future', 301],
    ['future', 999_999_999_999 - now],
  ])('is %s when its clock differs by %d seconds', async (problem, difference) => {
    expect(await outcome(body, signed(body, now + difference))).toMatch(
      new RegExp(`^${problem}: webhook-timestamp: `),
    );
  });

  it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('must have %s once', async (name) => {
    const headers: Record<string, string> = signed();
    const { [name]: value = '', ...others } = headers;
    const repeated = new Headers(headers);
    repeated.append(name, value);
    for (const form of [others, { ...headers, [name]: '' }, new Headers(others), Object.entries(others)])
      expect(await outcome(body, form)).toBe(`missing: ${name}: missing`);
    for (const form of [
      repeated,
      { ...headers, [name]: `${value}, ${value}` },
      { ...headers, [name]: [value, value] },
      { ...headers, [name.toUpperCase()]: value },
      [...Object.entries(headers), [name, value] as const],
      [...Object.entries(headers).flat(), name.toUpperCase(), value],
    ])
      expect(await outcome(body, form)).toMatch(new RegExp(`^malformed: ${name}: `));
  });

  it.each([
    ['webhook-id', ['evt 1', 'evt_1.5', 'ä', 'a\0', 'x'.repeat(5_000)]],
    [
      'webhook-timestamp',
      ['soon', '1e9', '-1', '1.5', `0${now}`, ` ${now}`, `${now}\n`, '9'.repeat(40), 'NaN'],
    ],
    ['webhook-signature', ['v1', 'v1,', ',x', 'x', ' ', `v1,${'A'.repeat(5_000)}`]],
  ])('must have a readable %s', async (name, values) => {
    for (const value of values)
      expect(await outcome(body, { ...signed(), [name]: value })).toMatch(
        new RegExp(`^malformed: ${name}: `),
      );
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'webhook-id: 1'],
    ['a number', 1],
    ['holes', ['webhook-id']],
    ['a prototype', Object.create(signed())],
  ])('is refused with %s as its headers', async (_, headers) => {
    expect(await outcome(body, headers as never)).toMatch(/^missing: /);
  });

  it('cannot move the end of its id into the body', async () => {
    const headers = signatureHeaders([secret], { id: 'evt_1', seconds: now, body: `${now}.5` });
    expect(await outcome('5', { ...headers, 'webhook-id': `evt_1.${now}` })).toMatch(
      /^malformed: webhook-id/,
    );
  });
});

describe('a body', () => {
  it.each([
    ['no JSON', 'hello'],
    ['empty', ''],
    ['cut off', '{"a":'],
    ['a NUL', '\0'],
    ['marked by its byte order', '\ufeff{}'],
  ])('that is %s is refused though it is signed', async (_, text) => {
    expect(await outcome(text, signed(text))).toBe('body: body: must be JSON in UTF-8');
  });

  it('that is no UTF-8 is refused, whatever was signed', async () => {
    const raw = Uint8Array.of(0x22, 0xff, 0x22);
    expect(await outcome(raw, signed('"\ufffd"'))).toMatch(/^signature: /);
    expect(await outcome(raw, { ...signed(), 'webhook-signature': signatureOf(raw) })).toBe(
      'body: body: must be JSON in UTF-8',
    );
  });

  it('with half a character is refused, because the signature would be of another text', async () => {
    const text = '{"type":"\ud800"}';
    expect(await outcome(text, signed(text))).toBe('body: body: must be valid Unicode');
  });

  it('may contain escaped halves of characters and NULs', async () => {
    const text = String.raw`{"a":"\ud800\u0000"}`;
    expect(await outcome(text, signed(text))).toEqual({ a: '\ud800\0' });
  });

  it('that was parsed already is refused with a hint', async () => {
    expect(await outcome(JSON.parse(body), signed())).toBe(
      'body: body: must be the raw text or bytes, before any parsing',
    );
  });

  it('of ten megabytes is verified', async () => {
    const data = randomBytes(5_000_000).toString('hex');
    const text = JSON.stringify({ type: 'a.b', timestamp: '2026-11-20T09:30:00.000Z', data });
    const { event } = await verifyWebhook<{ data: string }>(Buffer.from(text), signed(text), secret);
    expect(event.data === data).toBe(true);
  });
});

describe('a secret', () => {
  it.each([
    ['empty', ''],
    ['without its prefix', secret.slice(6)],
    ['only a prefix', 'whsec_'],
    ['not base64', 'whsec_!!!!'],
    ['cut off', secret.slice(0, -2)],
    ['with a line break', `${secret}\n`],
    ['too short', `whsec_${randomBytes(23).toString('base64')}`],
    ['too long', `whsec_${randomBytes(65).toString('base64')}`],
    ['absent', null as never],
    ['no secret at all', []],
    ['one of which is unusable', [secret, 'x']],
  ])('that is %s is refused as the fault of the receiver, and never repeated', async (_, given) => {
    const said = await outcome(body, signed(), given);
    expect(said).toMatch(/^secret: secret: /);
    for (const one of [given].flat()) if (one && one !== 'whsec_') expect(said).not.toContain(one);
  });
});

function upperCase(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
}

function mapped<T>(headers: Record<string, string>, to: (value: string) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, to(value)]));
}

/** Signs bytes that are not text, which none of our senders does. */
function signatureOf(raw: Uint8Array): string {
  const key = Buffer.from(secret.slice(6), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${now}.`).update(raw).digest('base64')}`;
}
