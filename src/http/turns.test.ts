import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { Turns, type TurnLimits } from './turns.ts';

const limits: TurnLimits = { running: 4, runningEach: 2, waiting: 8, waitingEach: 4, patience: 1_000 };
const busy = () => new Error('busy');

/** Records the callers that get a turn, in order. */
function hall(own: Partial<TurnLimits> = {}) {
  const turns = new Turns({ ...limits, ...own });
  const started: string[] = [];
  const refused: string[] = [];
  return {
    turns,
    started,
    refused,
    take: async (caller: string) => {
      try {
        await turns.take(caller, busy);
        started.push(caller);
      } catch {
        refused.push(caller);
      }
    },
    give: async (caller: string) => {
      turns.give(caller);
      await Promise.resolve();
      await Promise.resolve();
    },
  };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a caller goes on at once, up to his share', async () => {
  const { turns } = hall();
  expect(turns.take('a', busy)).toBeUndefined();
  expect(turns.take('a', busy)).toBeUndefined();
  const third = turns.take('a', busy);
  expect(third).toBeInstanceOf(Promise);
  expect(turns.counts).toEqual({ running: 2, waiting: 1 });
  turns.give('a');
  await third;
  expect(turns.counts).toEqual({ running: 2, waiting: 0 });
});

test('the others are not behind one who asks for much', async () => {
  const { take, started } = hall();
  for (let n = 0; n < 6; n++) void take('greedy');
  void take('modest');
  await settled();
  expect(started).toEqual(['greedy', 'greedy', 'modest']);
});

test('those who wait take turns', async () => {
  const { take, give, started } = hall({ running: 2 });
  for (const caller of ['a', 'a', 'a', 'a', 'b', 'c', 'b', 'a']) void take(caller);
  await settled();
  for (const caller of ['a', 'a', 'a', 'b', 'c']) await give(caller);
  expect(started.join('')).toBe('aaabcab');
});

describe('who would be one too many', () => {
  test('of his own is refused, and another is not', async () => {
    const { take, refused } = hall();
    for (let n = 0; n < 7; n++) void take('a');
    void take('b');
    await settled();
    expect(refused).toEqual(['a']);
  });

  test('of all is refused', async () => {
    const { take, turns, refused } = hall();
    for (const caller of ['a', 'b', 'c', 'd']) for (let n = 0; n < 4; n++) void take(caller);
    await settled();
    expect(turns.counts).toEqual({ running: 4, waiting: 8 });
    expect(refused).toEqual(['d', 'd', 'd', 'd']);
  });

  test('and waits too long is refused, and forgotten', async () => {
    vi.useFakeTimers();
    try {
      const { take, turns, refused } = hall();
      for (let n = 0; n < 4; n++) void take('a');
      await vi.advanceTimersByTimeAsync(1_200);
      expect(refused).toEqual(['a', 'a']);
      expect(turns.counts).toEqual({ running: 2, waiting: 0 });
      turns.give('a');
      turns.give('a');
      expect(turns.take('a', busy)).toBeUndefined();
    } finally {
      vi.useRealTimers();
    }
  });
});

test('whatever comes and goes, nobody has more than his share, and all have had their turn in the end', async () => {
  const callers = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.boolean(), callers), { maxLength: 60 }), async (steps) => {
      const { take, turns, started, refused } = hall();
      const held = new Map<string, number>();
      let asked = 0;
      const finish = (caller: string) => {
        const have = started.filter((one) => one === caller).length - (held.get(caller) ?? 0);
        if (have === 0) return false;
        held.set(caller, (held.get(caller) ?? 0) + 1);
        turns.give(caller);
        return true;
      };
      for (const [asks, caller] of steps) {
        if (asks) {
          asked += 1;
          void take(caller);
        } else finish(caller);
        await settled();
        expect(turns.counts.running).toBeLessThanOrEqual(4);
        for (const one of 'abcde')
          expect(started.filter((each) => each === one).length - (held.get(one) ?? 0)).toBeLessThanOrEqual(2);
      }
      for (let left = true; left;) {
        left = [...'abcde'].map(finish).some(Boolean);
        await settled();
      }
      expect(turns.counts).toEqual({ running: 0, waiting: 0 });
      expect(started.length + refused.length).toBe(asked);
    }),
    { numRuns: 50 },
  );
});
