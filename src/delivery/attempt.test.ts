import { describe, expect, it } from 'vitest';
import { TargetRefused, type OutboundAnswer, type OutboundRequest } from '../lib/outbound.ts';
import { attempt, judge, usualRules, wordsFor } from './attempt.ts';

const request = { url: 'https://example.com/hooks', headers: { a: 'b' }, body: '{}' };

describe('an answer', () => {
  const verdict = (status: number, headers = {}) => judge({ status, headers }, usualRules, 0);

  it.each([200, 202, 204, 299])('%i is a delivery', (status) => {
    expect(verdict(status)).toEqual({ result: 'delivered', statusCode: status, error: null });
  });

  it.each([302, 400, 404, 429, 500, 503])('%i is a failure that may pass', (status) => {
    expect(verdict(status)).toMatchObject({
      result: 'failed',
      statusCode: status,
      error: `the receiver answered ${status}`,
    });
  });

  it('410 is the end of it', () => expect(verdict(410).result).toBe('final'));

  it('may ask to wait', () => expect(verdict(503, { 'retry-after': '60' }).retryAfter).toBe(60));

  it('is judged by the rules that are given', () => {
    const rules = { isDelivered: (status: number) => status === 204, isFinal: () => true };
    expect(judge({ status: 204, headers: {} }, rules, 0).result).toBe('delivered');
    expect(judge({ status: 200, headers: {} }, rules, 0).result).toBe('final');
  });
});

describe('an attempt', () => {
  const outcome = (send: (sent: OutboundRequest) => Promise<OutboundAnswer>) =>
    attempt({ send }, request, usualRules);

  it('is a POST with limits', async () => {
    const sent: OutboundRequest[] = [];
    await outcome(async (one) => {
      sent.push(one);
      return { status: 200, headers: {}, body: Buffer.alloc(0) };
    });
    expect(sent).toEqual([{ ...request, method: 'POST', timeoutMs: 15_000, maxBytes: 16_384 }]);
  });

  it('at a forbidden address is the last one', async () => {
    const verdict = await outcome(() => Promise.reject(new TargetRefused('address not allowed')));
    expect(verdict).toEqual({ result: 'final', statusCode: null, error: 'address not allowed' });
  });

  it('without an answer has failed', async () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:443'), { code: 'ECONNREFUSED' });
    const verdict = await outcome(() => Promise.reject(refused));
    expect(verdict).toEqual({ result: 'failed', statusCode: null, error: 'ECONNREFUSED' });
  });
});

describe('the words for an error', () => {
  it.each<[unknown, string]>([
    ['nonsense', 'no answer'],
    [new Error('10.0.0.1 said no'), 'no answer'],
    [new DOMException('aborted', 'TimeoutError'), 'no answer in time'],
    [new TypeError('failed', { cause: new TargetRefused('address not allowed') }), 'address not allowed'],
  ])('%s', (error, words) => expect(wordsFor(error)).toBe(words));
});
