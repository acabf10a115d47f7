import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RequestOptions } from '../src/index.ts';
import { delayBefore } from '../src/runtime/retries.ts';
import { inTurn, serve } from './server.ts';
import { failureOf, things, type Things } from './things.ts';

const body = { id: 1 };
type Call = (client: Things, options: RequestOptions) => PromiseLike<unknown>;

const safe: [string, Call][] = [
  ['GET', (client, options) => client.get({ id: '1' }, options)],
  ['HEAD', (client, options) => client.head({ key: '1' }, options)],
  ['PUT', (client, options) => client.put({ id: '1', body }, options)],
  ['DELETE', (client, options) => client.delete({ id: '1' }, options)],
  ['a POST that only asks', (client, options) => client.ask({ body: { question: '?' } }, options)],
  ['a POST that creates', (client, options) => client.create({ body: {} }, options)],
  [
    'a POST with an idempotency key',
    (client, options) => client.create({ body: {} }, { ...options, idempotencyKey: 'k' }),
  ],
  [
    'a PATCH with an idempotency key',
    (client, options) => client.patch({ id: '1', body }, { ...options, idempotencyKey: 'k' }),
  ],
];
const unsafe: [string, Call][] = [
  ['a POST that creates nothing', (client, options) => client.token({ body: { grant_type: 'x' } }, options)],
  ['PATCH', (client, options) => client.patch({ id: '1', body }, options)],
  [
    'a PUT of a stream, which can be read once',
    (client, options) => client.upload({ key: 'k', body: new Blob(['x']).stream() }, options),
  ],
];

/** A fetch that gives these answers in turn, repeats the last answer for ever, and counts its calls. */
function answers(...turns: (() => Response | Promise<Response>)[]) {
  const requests: Request[] = [];
  const fetch = async (request: Request) => {
    requests.push(request);
    return turns[Math.min(requests.length, turns.length) - 1]!();
  };
  return { fetch, requests };
}
const status =
  (code: number, headers: Record<string, string> = {}) =>
  () =>
    new Response('{}', { status: code, headers });
const lost = () => Promise.reject(new TypeError('fetch failed'));
const fine = () => Response.json(body);

describe('what is repeated', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  async function tries(call: Call, options: RequestOptions, ...turns: Parameters<typeof answers>) {
    const { fetch, requests } = answers(...turns);
    const outcome = Promise.resolve(call(things({ baseUrl: 'http://plinth.invalid', fetch }), options)).then(
      () => 'answered',
      (thrown: unknown) => thrown,
    );
    await vi.runAllTimersAsync();
    return { count: requests.length, outcome: await outcome };
  }

  describe.each(safe)('%s', (_, call) => {
    it.each([429, 502, 503, 504])('after a %d', async (code) => {
      expect(await tries(call, {}, status(code), fine)).toEqual({ count: 2, outcome: 'answered' });
    });
    it('after a lost connection', async () => {
      expect(await tries(call, {}, lost, lost, fine)).toEqual({ count: 3, outcome: 'answered' });
    });
    it.each([400, 401, 403, 404, 409, 413, 500, 501])('but not after a %d', async (code) => {
      expect((await tries(call, {}, status(code), fine)).count).toBe(1);
    });
  });

  it.each(unsafe)('not %s', async (_, call) => {
    expect(await tries(call, {}, status(503), fine)).toMatchObject({ count: 1, outcome: { status: 503 } });
    expect(await tries(call, {}, lost, fine)).toMatchObject({ count: 1, outcome: { kind: 'connection' } });
  });

  it('twice unless the call or the client says otherwise; the last failure is thrown', async () => {
    const [, get] = safe[0]!;
    expect(await tries(get, {}, lost, lost, status(503), fine)).toMatchObject({
      count: 3,
      outcome: { status: 503 },
    });
    expect((await tries(get, { retries: 0 }, lost)).count).toBe(1);
    expect((await tries(get, { retries: 5 }, lost)).count).toBe(6);
  });

  it('a creation whose first try still runs under its idempotency key', async () => {
    const create: Call = (client, options) => client.create({ body: {} }, options);
    const running = status(409, { 'Retry-After': '1' });
    expect((await tries(create, { idempotencyKey: 'k' }, lost, running, fine)).outcome).toBe('answered');
    expect((await tries(create, {}, lost, running, fine)).outcome).toBe('answered');
  });

  it('a creation under one key for all its tries, and another one for the next call', async () => {
    const { fetch, requests } = answers(lost, status(429, { 'Retry-After': '1' }), fine);
    const client = things({ baseUrl: 'http://plinth.invalid', fetch });
    const call = client.create({ body: {} });
    await vi.runAllTimersAsync();
    await call;
    await client.create({ body: {} });
    const keys = requests.map(({ headers }) => headers.get('Idempotency-Key'));
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys).toEqual([keys[0], keys[0], keys[0], expect.stringMatching(/^[0-9a-f]{32}$/)]);
    expect(keys[3]).not.toBe(keys[0]);
  });

  it.each(safe)('%s after a 500 that says when to come again', async (_, call) => {
    expect(await tries(call, {}, status(500, { 'Retry-After': '1' }), fine)).toEqual({
      count: 2,
      outcome: 'answered',
    });
  });

  it('with the same body and the same key', async () => {
    const { url, requests } = await serve(
      inTurn(
        () => ({ status: 503 }),
        () => ({ body }),
      ),
    );
    vi.useRealTimers();
    await things({ baseUrl: url }).create({ body: { name: 'x' } }, { idempotencyKey: 'k' });
    expect(requests.map((request) => [request.body, request.headers['idempotency-key']])).toEqual([
      ['{"name":"x"}', 'k'],
      ['{"name":"x"}', 'k'],
    ]);
  });

  it('not before the time that the server asks for', async () => {
    const { fetch, requests } = answers(status(429, { 'Retry-After': '7' }), fine);
    const call = things({ baseUrl: 'http://plinth.invalid', fetch }).get({ id: '1' });
    await vi.advanceTimersByTimeAsync(6_999);
    expect(requests).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await call).toEqual(body);
  });

  it('not at all where the server asks for more than a minute', async () => {
    const [, get] = safe[0]!;
    const outcome = { status: 503, retryAfter: 61 };
    expect(await tries(get, {}, status(503, { 'Retry-After': '61' }), fine)).toMatchObject({
      count: 1,
      outcome,
    });
  });

  it('not after the signal aborted between two tries', async () => {
    const controller = new AbortController();
    const { fetch, requests } = answers(status(503, { 'Retry-After': '30' }), fine);
    const client = things({ baseUrl: 'http://plinth.invalid', fetch });
    const failure = failureOf(client.get({ id: '1' }, { signal: controller.signal }));
    await vi.advanceTimersByTimeAsync(1_000);
    controller.abort(new Error('enough'));
    expect(await failure).toMatchObject({ kind: 'abort', cause: { message: 'enough' } });
    expect([requests.length, vi.getTimerCount()]).toEqual([1, 0]);
  });

  it('each time with the whole time of a try', async () => {
    const silent = (request: Request) =>
      new Promise<Response>((_, reject) => {
        request.signal.addEventListener('abort', () => reject(request.signal.reason as Error));
      });
    const requests: Request[] = [];
    const fetch = (request: Request) => {
      requests.push(request);
      return silent(request);
    };
    const failure = failureOf(
      things({ baseUrl: 'http://plinth.invalid', fetch, timeout: 1_000 }).get({ id: '1' }),
    );
    await vi.advanceTimersByTimeAsync(999);
    expect(requests).toHaveLength(1);
    await vi.runAllTimersAsync();
    expect(requests).toHaveLength(3);
    expect(await failure).toMatchObject({ kind: 'timeout' });
  });

  it('leaving no timer behind', async () => {
    const [, get] = safe[0]!;
    await tries(get, {}, fine);
    await tries(get, {}, status(404));
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('the delay before a repeat', () => {
  const chance = fc.double({ min: 0, max: 1, noNaN: true });

  it('doubles from a quarter of a second to eight, half of it by chance', () => {
    fc.assert(
      fc.property(fc.nat(50), chance, (repeat, luck) => {
        const whole = Math.min(8_000, 250 * 2 ** repeat);
        const delay = delayBefore(repeat, undefined, luck);
        expect(delay).toBeGreaterThanOrEqual(whole / 2);
        expect(delay).toBeLessThanOrEqual(whole);
      }),
    );
  });

  it('is never shorter than what the server asks for', () => {
    fc.assert(
      fc.property(fc.nat(10), fc.nat(60), chance, (repeat, seconds, luck) => {
        expect(delayBefore(repeat, seconds, luck)).toBeGreaterThanOrEqual(seconds * 1000);
      }),
    );
  });
});
