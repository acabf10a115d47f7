import fc from 'fast-check';
import { expect, test } from 'vitest';
import { claimSize, endRate, mostWaiting } from './prefetch.ts';
import type { JobState } from './job.ts';
import { isFinal, stateAfter, type Transition } from './testing/states.ts';

const demand = { free: 4, waiting: 0, perSecond: 0, limited: false, hinted: false };

test.each([
  ['slow jobs are not claimed ahead', {}, 4],
  ['of what fast jobs need in 50 ms, one of two claims gets half', { perSecond: 1_000 }, 27],
  ['and the other the rest', { perSecond: 1_000, waiting: 27 }, 27],
  ['one claim never asks for more than half of 1000', { perSecond: 1e6 }, 502],
  ['nothing more while more than half waits', { free: 0, perSecond: 1_000, waiting: 26 }, 0],
  ['the other half is claimed', { free: 0, perSecond: 1_000, waiting: 25 }, 25],
  ['a hint asks for a few more', { free: 0, perSecond: 1_000, waiting: 100, hinted: true }, 8],
  ['but not without end', { free: 0, perSecond: 1_000, waiting: 101, hinted: true }, 0],
  ['and for none while slow jobs fill the slots', { free: 0, hinted: true }, 0],
  ['a queue with limits gets what starts at once', { perSecond: 1e6, limited: true }, 4],
  ['nothing without a slot', { free: 0 }, 0],
])('%s', (_, more, size) => expect(claimSize({ ...demand, ...more })).toBe(size));

test('what is claimed is bounded, and free slots are never left without', () =>
  fc.assert(
    fc.property(
      fc.nat(1_000),
      fc.nat(1_500),
      fc.nat(1e6),
      fc.boolean(),
      fc.boolean(),
      (free, waiting, perSecond, limited, hinted) => {
        const size = claimSize({ free, waiting, perSecond, limited, hinted });
        expect(size).toBeGreaterThanOrEqual(0);
        expect(size).toBeLessThanOrEqual(limited ? free : mostWaiting);
        if (free > waiting) expect(size).toBeGreaterThan(0);
      },
    ),
  ));

test('the rate of ends is that of the last second, and is forgotten after it', () => {
  let now = 0;
  const rate = endRate(() => now);
  for (let at = 0; at < 200; at++) rate.note();
  now = 200;
  expect(rate.perSecond()).toBe(1_000);
  now = 1_000;
  expect(rate.perSecond()).toBe(200);
  now = 2_000;
  expect(rate.perSecond()).toBe(0);
});

test('no transition leaves a final state but the retry of what failed or was cancelled', () => {
  const states: JobState[] = ['pending', 'running', 'retrying', 'completed', 'failed', 'cancelled'];
  const transitions: Transition[] = [
    'claim',
    'complete',
    'retry-later',
    'fail',
    'give-back',
    'cancel',
    'retry',
  ];
  const leaving = states
    .filter(isFinal)
    .flatMap((state) =>
      transitions
        .filter((transition) => stateAfter(state, transition) !== undefined)
        .map((transition) => [state, transition]),
    );
  expect(leaving).toEqual([
    ['failed', 'retry'],
    ['cancelled', 'retry'],
  ]);
});
