import { describe, expect, it } from 'vitest';
import { delayAfter, mostAttempts } from './delivery-schedule.ts';
import { selectorsOf } from './event-selectors.ts';

describe('the next try', () => {
  it.each([
    [1, 5],
    [2, 300],
    [3, 1_800],
    [4, 7_200],
    [5, 18_000],
    [6, 36_000],
    [7, 36_000],
  ])('after failure %i comes after %i seconds, a tenth more or less', (attempts, seconds) => {
    expect(delayAfter(attempts, undefined, 0)).toBeCloseTo(seconds * 0.9);
    expect(delayAfter(attempts, undefined, 0.5)).toBeCloseTo(seconds);
    expect(delayAfter(attempts, undefined, 1)).toBeCloseTo(seconds * 1.1);
  });

  it('does not come after the eighth', () => {
    expect(mostAttempts).toBe(8);
    expect(delayAfter(8, 10, 0.5)).toBeUndefined();
  });

  it('waits as long as the receiver asks for, at most an hour', () => {
    expect(delayAfter(1, 60, 0.5)).toBe(60);
    expect(delayAfter(1, 86_400, 0.5)).toBe(3_600);
    expect(delayAfter(4, 60, 0.5)).toBe(7_200);
  });
});

it.each([
  ['user.created', ['*', 'user.*', 'user.created']],
  ['auth.signin', ['*', 'auth.*', 'auth.signin']],
  ['auth.role.created', ['*', 'auth.*', 'auth.role.*', 'auth.role.created']],
])('%s is asked for by %j', (type, selectors) => expect(selectorsOf(type)).toEqual(selectors));
