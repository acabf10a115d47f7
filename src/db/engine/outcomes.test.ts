import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { afterFailure, afterLoss, type Attempted, backoffMs, errorText, spreadMs } from './outcomes.ts';

const exponential = { type: 'exponential', delayMs: 2_000, maxMs: 3_600_000 } as const;
const job = (more: Partial<Attempted> = {}): Attempted => ({
  attempt: 1,
  maxAttempts: 5,
  lostCount: 0,
  backoff: exponential,
  ...more,
});

describe('the back-off', () => {
  test.each([
    [1, 2_000],
    [2, 4_000],
    [3, 8_000],
    [4, 16_000],
    [11, 2_048_000],
    [12, 3_600_000],
    [100, 3_600_000],
  ])('after attempt %i is below %i ms', (attempt, bound) => {
    expect(backoffMs(exponential, attempt, 0)).toBe(0);
    expect(backoffMs(exponential, attempt, 0.5)).toBe(bound / 2);
    expect(backoffMs(exponential, attempt, 1)).toBe(bound);
  });

  test('may be fixed', () => expect(backoffMs({ ...exponential, type: 'fixed' }, 7, 0.3)).toBe(2_000));

  test('is spread evenly', () => {
    const counts = Array.from({ length: 10 }, () => 0);
    for (let sample = 0; sample < 10_000; sample++)
      counts[Math.floor(backoffMs(exponential, 1, Math.random()) / 200)]! += 1;
    // Six standard deviations of 30: one run in a hundred million fails by chance.
    for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(190);
  });
});

test.each([
  [1, 1_000],
  [2, 2_000],
  [4, 8_000],
  [5, 15_000],
  [9, 15_000],
])('a job that was lost %i times is due within %i ms', (lost, most) => {
  expect(spreadMs(lost, 0)).toBe(0);
  expect(spreadMs(lost, 1)).toBe(most);
});

describe('after a failure', () => {
  test('another attempt follows while there is one, and it may help', () => {
    expect(afterFailure(job(), { error: 'no' }, 0.5)).toMatchObject({
      state: 'retrying',
      delayMs: 1_000,
      error: 'no',
    });
    expect(afterFailure(job(), { error: 'no', retryInMs: 7 }, 0.5)).toMatchObject({
      state: 'retrying',
      delayMs: 7,
    });
    expect(afterFailure(job({ attempt: 5 }), { error: 'no', retryInMs: 7 }, 0.5)).toMatchObject({
      state: 'failed',
    });
    expect(afterFailure(job({ maxAttempts: 1 }), { error: 'no' }, 0.5)).toMatchObject({ state: 'failed' });
    expect(afterFailure(job(), { error: 'no', retryable: false }, 0.5)).toMatchObject({ state: 'failed' });
  });

  test('the number of attempts is never exceeded', () =>
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 1, max: 100 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (attempt, maxAttempts, chance) => {
          const { state, delayMs } = afterFailure(job({ attempt, maxAttempts }), { error: 'no' }, chance);
          expect(state).toBe(attempt < maxAttempts ? 'retrying' : 'failed');
          expect(delayMs).toBeLessThanOrEqual(exponential.maxMs);
        },
      ),
    ));
});

test('a job that is lost waits again and does not lose an attempt, but the tenth loss is the last', () => {
  expect(afterLoss(job({ lostCount: 8 }), 10, 1)).toEqual({
    ...{ state: 'pending', delayMs: 15_000, error: null, uncounted: true, lost: true },
  });
  expect(afterLoss(job({ lostCount: 9 }), 10, 1)).toMatchObject({
    state: 'failed',
    error: 'worker lost 10 times',
  });
});

test.each([
  ['', 'failed without a message'],
  [' \0 ', 'failed without a message'],
  ['a\0b', 'ab'],
  ['a\ud800', 'a\ufffd'],
  ['x'.repeat(3_000), 'x'.repeat(2_000)],
  ['x'.repeat(1_999) + '😀', 'x'.repeat(1_999) + '\ufffd'],
])('an error is kept as text that can be stored', (text, kept) => expect(errorText(text)).toBe(kept));
