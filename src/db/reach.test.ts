import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Lane } from './lane.ts';
import { createReach } from './reach.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A connection that was asked something. */
function askedLane() {
  const traffic = { sent: 10, heard: 10 };
  const cut = vi.fn();
  const lane = { inFlight: () => 1, traffic: () => ({ ...traffic }), cut } as unknown as Lane;
  return { lane, cut, hear: () => void (traffic.heard += 1) };
}

/** Creates a connection that is answered, or one that receives nothing until it is cut. */
const probeLane = (answers: boolean) => {
  let fail = (_: Error) => {};
  const answer = answers
    ? Promise.resolve([])
    : new Promise<never>((_resolve, reject) => void (fail = reject));
  return { sql: () => answer, cut: (error: Error) => fail(error), end: async () => {} } as unknown as Lane;
};

test('a server that says nothing is found after the time of silence, whatever it said last and on which connection', async () => {
  const [first, second] = [askedLane(), askedLane()];
  const found = vi.fn();
  const reach = createReach({ silenceMs: 4_250, probe: () => probeLane(false) });
  reach.onSilence(found);
  reach.watch(first.lane);
  reach.watch(second.lane);
  await vi.advanceTimersByTimeAsync(100);
  // Data arrives here after the first connection has already become silent.
  second.hear();
  await vi.advanceTimersByTimeAsync(3_900);
  expect(reach.problem()).toBeUndefined();
  await vi.advanceTimersByTimeAsync(600);
  expect(reach.problem()).toMatchObject({ code: 'ETIMEDOUT' });
  expect([found, first.cut, second.cut].map(({ mock }) => mock.calls.length > 0)).toEqual([true, true, true]);
  const closing = reach.close();
  await vi.advanceTimersByTimeAsync(5_000);
  await closing;
});

test('a server that answers on a new connection is there: only what is quiet is cut', async () => {
  const { lane, cut } = askedLane();
  const reach = createReach({ silenceMs: 4_250, probe: () => probeLane(true) });
  reach.watch(lane);
  await vi.advanceTimersByTimeAsync(4_000);
  expect([reach.problem(), cut.mock.calls.length]).toEqual([undefined, 0]);
  await vi.advanceTimersByTimeAsync(600);
  expect([reach.problem(), cut.mock.calls.length > 0]).toEqual([undefined, true]);
  await reach.close();
});
