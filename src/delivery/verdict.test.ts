import { describe, expect, it } from 'vitest';
import { usualRules, verdictOf } from './verdict.ts';

describe('an answer', () => {
  const verdict = (status: number, retryAfter?: string) => verdictOf({ status, retryAfter }, usualRules, 0);

  it.each([200, 202, 204, 299])('%i is a delivery', (status) => {
    expect(verdict(status)).toMatchObject({ result: 'delivered', statusCode: status, error: null });
  });

  it.each([302, 400, 404, 429, 500, 503])('%i is a failure that may pass', (status) => {
    expect(verdict(status)).toMatchObject({
      result: 'failed',
      statusCode: status,
      error: `the receiver answered ${status}`,
    });
  });

  it('410 is the end of it', () => {
    expect(verdict(410)).toMatchObject({ result: 'final', lane: { isGone: true } });
  });

  it('may ask to wait', () => {
    expect(verdict(503, '60')).toMatchObject({ retryAfter: 60, lane: { pauseMs: 60_000 } });
    expect(verdict(500, 'soon').retryAfter).toBeUndefined();
  });

  it('is judged by the rules that are given', () => {
    const rules = { isDelivered: (status: number) => status === 204, isFinal: () => true };
    expect(verdictOf({ status: 204, retryAfter: undefined }, rules, 0).result).toBe('delivered');
    expect(verdictOf({ status: 200, retryAfter: undefined }, rules, 0).result).toBe('final');
  });
});

describe('an attempt without an answer', () => {
  it.each([
    ['address not allowed', 'final', 'none'],
    ['the request could not be made', 'final', 'none'],
    ['connection refused', 'failed', 'failure'],
    ['timeout', 'failed', 'failure'],
  ])('because of "%s" is %s', (problem, result, sign) => {
    expect(verdictOf({ problem }, usualRules, 0)).toMatchObject({
      result,
      statusCode: null,
      error: problem,
      lane: { sign },
    });
  });
});
