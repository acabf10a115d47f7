import { afterEach, describe, expect, it } from 'vitest';
import { createLeases, type Leases } from './leases.ts';
import type { Grant, RateStore, Rest } from './rates.ts';

const holder = { tenant: 'acme', key: 'key_1' };
const minute = 60_000;

/** A store that records requests and gives the test's answers. Time stands still unless the test moves it. */
function setUp(answer: (want: number, min: number, call: number) => Partial<Grant>) {
  let now = 1_000;
  const asked: { want: number; min: number }[] = [];
  const given: Rest[] = [];
  const store: RateStore = {
    async reserve(_, __, want, min) {
      asked.push({ want, min });
      const grant = { granted: want, leftMs: 6_000, used: want, waitMs: 0, resetMs: 66_000, slot: 1 };
      return { ...grant, ...answer(want, min, asked.length) };
    },
    async giveBack(rests) {
      given.push(...rests);
    },
  };
  leases = createLeases(store, () => now);
  return { leases, asked, given, pass: (ms: number) => void (now += ms) };
}

let leases: Leases;
afterEach(() => leases.stop());

describe('a lease', () => {
  it('starts at one unit, grows eightfold while it is used up fast, and is never above a sixteenth of the limit', async () => {
    const { leases, asked } = setUp(() => ({ used: 0 }));
    for (let call = 0; call < 60; call++) await leases.take(holder, { limit: 320, windowMs: minute }, 1);
    expect(asked.map(({ want }) => want)).toEqual([1, 8, 20, 20, 20]);
  });

  it.each([100, 1_000, 10_000])('is asked for at most 20 times to use up a limit of %i', async (limit) => {
    const { leases, asked } = setUp(() => ({ used: 0 }));
    for (let call = 0; call < limit; call++) await leases.take(holder, { limit, windowMs: minute }, 1);
    expect(asked.length).toBeLessThanOrEqual(20);
  });

  it('halves when it lasts', async () => {
    const { leases, asked, pass } = setUp((_, __, call) => ({ slot: call }));
    const rate = { limit: 1_000, windowMs: minute };
    for (let call = 0; call < 9; call++) await leases.take(holder, rate, 1);
    expect(asked.at(-1)?.want).toBe(8);
    pass(5_000);
    await leases.take(holder, rate, 1);
    expect(asked.at(-1)?.want).toBe(4);
  });

  it('is counted one by one up to a limit of sixteen', async () => {
    const { leases, asked } = setUp(() => ({ used: 0 }));
    for (let call = 0; call < 5; call++) await leases.take(holder, { limit: 16, windowMs: minute }, 1);
    expect(asked).toEqual(Array.from({ length: 5 }, () => ({ want: 1, min: 1 })));
  });

  it('is never spent after its sub-bucket ended: the rest is given back', async () => {
    const { leases, asked, given, pass } = setUp((want, _, call) => ({
      slot: call,
      granted: Math.max(want, 10),
    }));
    const rate = { limit: 1_000, windowMs: minute };
    await leases.take(holder, rate, 1);
    pass(5_999);
    await leases.take(holder, rate, 1);
    expect(asked).toHaveLength(1);
    pass(1);
    await leases.take(holder, rate, 1);
    expect(asked).toHaveLength(2);
    await leases.stop();
    expect(given).toEqual([
      { ...holder, subMs: 6_000, slot: 1, units: 8 },
      { ...holder, subMs: 6_000, slot: 2, units: 9 },
    ]);
  });

  it('that arrives after its sub-bucket ended is given back and asked for again', async () => {
    const { leases, asked, given, pass } = setUp((_, __, call) => {
      if (call === 1) pass(7_000);
      // The units are given back first: they are already counted, and with a limit of one they would cause a refusal of their
      // own key.
      return given.length === call - 1 ? { slot: call } : { granted: 0, used: 10 };
    });
    const admission = await leases.take(holder, { limit: 10, windowMs: minute }, 1);
    expect(admission).toMatchObject({ admitted: true, at: 8_000 });
    expect(asked).toHaveLength(2);
    await leases.stop();
    expect(given).toEqual([{ ...holder, subMs: 6_000, slot: 1, units: 1 }]);
  });

  it('that ended with units left does not refuse its owner: they are given back, then it asks again', async () => {
    const { leases, given, pass } = setUp((_, __, call) => {
      if (call === 1) return { granted: 10, used: 10 };
      return given.length === 0
        ? { granted: 0, used: 10, waitMs: 60_000 }
        : { slot: 2, granted: 9, used: 10 };
    });
    const rate = { limit: 10, windowMs: minute };
    await leases.take(holder, rate, 1);
    pass(6_000);
    expect(await leases.take(holder, rate, 1)).toMatchObject({ admitted: true });
    expect(given).toEqual([{ ...holder, subMs: 6_000, slot: 1, units: 9 }]);
  });

  it('of a store that is always too late is an error, not an endless try', async () => {
    const { leases, asked, pass } = setUp(() => {
      pass(7_000);
      return {};
    });
    await expect(leases.take(holder, { limit: 10, windowMs: minute }, 1)).rejects.toMatchObject({
      kind: 'unavailable',
    });
    expect(asked).toHaveLength(5);
  });

  it('is dropped when the policy changes, and counted anew at once', async () => {
    const { leases, asked, given } = setUp(() => ({ granted: 5 }));
    await leases.take(holder, { limit: 100, windowMs: minute }, 1);
    await leases.take(holder, { limit: 200, windowMs: minute }, 1);
    expect(asked).toHaveLength(2);
    await leases.stop();
    expect(given.map(({ units }) => units)).toEqual([4, 4]);
  });
});

describe('one question in flight', () => {
  it('is shared by all who wait: the sum of their costs is asked for, the smallest is the least', async () => {
    const { leases, asked } = setUp(() => ({}));
    const rate = { limit: 1_000, windowMs: minute };
    const first = leases.take(holder, rate, 1);
    const others = [5, 2, 3].map((cost) => leases.take(holder, rate, cost));
    expect((await Promise.all([first, ...others])).every(({ admitted }) => admitted)).toBe(true);
    expect(asked).toEqual([
      { want: 1, min: 1 },
      { want: 10, min: 2 },
    ]);
  });

  it('fails all who wait when the store does, and the next one asks again', async () => {
    const { leases } = setUp((_, __, call) => {
      if (call === 1) throw new Error('away');
      return {};
    });
    const rate = { limit: 10, windowMs: minute };
    const failed = [leases.take(holder, rate, 1), leases.take(holder, rate, 1)].map(async (each) => each);
    expect(await Promise.allSettled(failed)).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    expect(await leases.take(holder, rate, 1)).toMatchObject({ admitted: true });
  });
});

describe('a refusal', () => {
  const empty = { granted: 0, used: 10, waitMs: 4_200, resetMs: 4_200 };

  it('is answered from memory until units can be left again', async () => {
    const { leases, asked, pass } = setUp((_, __, call) => (call === 1 ? empty : {}));
    const rate = { limit: 10, windowMs: minute };
    expect(await leases.take(holder, rate, 1)).toMatchObject({
      admitted: false,
      remaining: 0,
      waitMs: 4_200,
    });
    pass(4_199);
    expect(await leases.take(holder, rate, 1)).toMatchObject({ admitted: false, waitMs: 1 });
    expect(asked).toHaveLength(1);
    pass(1);
    expect(await leases.take(holder, rate, 1)).toMatchObject({ admitted: true });
  });

  it('of a large cost does not refuse a smaller one', async () => {
    const { leases } = setUp((_, __, call) => (call === 1 ? { ...empty, used: 8 } : {}));
    const rate = { limit: 10, windowMs: minute };
    expect(await leases.take(holder, rate, 5)).toMatchObject({ admitted: false, remaining: 2 });
    expect(await leases.take(holder, rate, 1)).toMatchObject({ admitted: true });
  });

  it('of a cost above the limit names no time and asks nobody', async () => {
    const { leases, asked } = setUp(() => ({}));
    expect(await leases.take(holder, { limit: 10, windowMs: minute }, 11)).toMatchObject({
      admitted: false,
      waitMs: null,
    });
    expect(asked).toHaveLength(0);
  });

  it('ends with a raised limit', async () => {
    const { leases } = setUp((_, __, call) => (call === 1 ? empty : {}));
    expect(await leases.take(holder, { limit: 10, windowMs: minute }, 1)).toMatchObject({ admitted: false });
    expect(await leases.take(holder, { limit: 20, windowMs: minute }, 1)).toMatchObject({ admitted: true });
  });
});

describe('a question of cost 0', () => {
  it('reads the count without taking a unit, and from memory where the count is known', async () => {
    const { leases, asked } = setUp(() => ({ granted: 0, used: 4 }));
    const rate = { limit: 10, windowMs: minute };
    expect(await leases.take(holder, rate, 0)).toMatchObject({
      admitted: true,
      remaining: 6,
      resetMs: 66_000,
    });
    expect(await leases.take(holder, rate, 0)).toMatchObject({ admitted: true, remaining: 6 });
    expect(asked).toEqual([{ want: 0, min: 0 }]);
  });
});
