import { describe, expect, it } from 'vitest';
import type { Ending } from '../../../delivery/attempt.ts';
import { outcomeOf } from './outcomes.ts';

const now = Date.parse('2026-11-20T09:30:00Z');
const outcome = (ending: Ending, attempt = 1, maxAttempts = 10, chance = 0.5) =>
  outcomeOf(ending, { attempt, maxAttempts }, { clientErrorAttempts: 4 }, now, chance);
const answer = (status: number, retryAfter?: string) => ({ status, retryAfter });

describe('an answer', () => {
  it.each([200, 201, 202, 204, 299])('%i is a delivery', (status) => {
    expect(outcome(answer(status))).toEqual({
      result: 'delivered',
      statusCode: status,
      error: null,
      delayMs: null,
      lane: { sign: 'success', isOverloaded: false, pauseMs: 0, isGone: false },
    });
  });

  it.each<[number, 'failure' | 'none', boolean]>([
    [101, 'failure', false],
    [301, 'failure', false],
    [302, 'failure', false],
    [307, 'failure', false],
    [408, 'none', false],
    [425, 'none', false],
    [500, 'failure', false],
    [501, 'failure', false],
    [502, 'failure', true],
    [503, 'failure', true],
    [504, 'failure', true],
    [599, 'failure', false],
  ])('%i is attempted again on the schedule; the lane takes it as %s', (status, sign, isOverloaded) => {
    expect(outcome(answer(status))).toEqual({
      result: 'retry',
      statusCode: status,
      error: `http ${status}`,
      delayMs: 5_000,
      lane: { sign, isOverloaded, pauseMs: 0, isGone: false },
    });
    expect(outcome(answer(status), 9)).toMatchObject({ result: 'retry', delayMs: 86_400_000 });
    expect(outcome(answer(status), 10)).toMatchObject({ result: 'failed', delayMs: null });
  });

  it.each([400, 401, 403, 404, 409, 413, 422, 451])(
    '%i is attempted four times, and says nothing against the receiver',
    (status) => {
      expect(outcome(answer(status), 3)).toMatchObject({ result: 'retry', delayMs: 1_800_000 });
      expect(outcome(answer(status), 4)).toMatchObject({ result: 'failed', error: `http ${status}` });
      expect(outcome(answer(status), 2, 2)).toMatchObject({ result: 'failed' });
      expect(outcome(answer(status)).lane.sign).toBe('none');
    },
  );

  it('410 is the end of it, for the endpoint too', () => {
    expect(outcome(answer(410))).toMatchObject({ result: 'failed', lane: { isGone: true } });
  });
});

describe('Retry-After', () => {
  it.each<[number, string | undefined, number]>([
    [429, undefined, 30_000],
    [429, 'soon', 30_000],
    [429, '120', 120_000],
    [429, '0', 1_000],
    [429, '99999999999999999999', 86_400_000],
    [429, 'Fri, 20 Nov 2026 09:32:00 GMT', 120_000],
    [503, undefined, 0],
    [503, 'soon', 0],
    [503, '120', 120_000],
    [502, '120', 0],
    [500, '120', 0],
    [404, '120', 0],
  ])('of a %i that says %j pauses the lane for %i ms', (status, retryAfter, pauseMs) => {
    expect(outcome(answer(status, retryAfter)).lane.pauseMs).toBe(pauseMs);
  });

  it('postpones the next attempt, and spreads it over a tenth', () => {
    expect(outcome(answer(503, '120'), 1, 10, 0).delayMs).toBe(120_000);
    expect(outcome(answer(503, '120'), 1, 10, 1).delayMs).toBeCloseTo(132_000);
    expect(outcome(answer(503, '120'), 4).delayMs).toBe(7_200_000);
  });
});

describe('no answer', () => {
  it.each([
    ['timeout', true],
    ['connection timeout', true],
    ['connection refused', false],
    ['connection reset', false],
    ['host not found', false],
    ['dns failure', false],
    ['tls: certificate has expired', false],
    ['invalid response', false],
  ])('because of %s is attempted again, and is a failure of the receiver', (problem, isOverloaded) => {
    expect(outcome({ problem })).toEqual({
      result: 'retry',
      statusCode: null,
      error: problem,
      delayMs: 5_000,
      lane: { sign: 'failure', isOverloaded, pauseMs: 0, isGone: false },
    });
    expect(outcome({ problem }, 10)).toMatchObject({ result: 'failed', lane: { sign: 'failure' } });
  });

  it.each(['address not allowed', 'secret unreadable'])('because of %s is final', (problem) => {
    expect(outcome({ problem })).toMatchObject({ result: 'failed', lane: { sign: 'none' } });
  });
});
