import { beforeEach, describe, expect, it } from 'vitest';
import { LaneQueue } from './lane-queue.ts';

let queue: LaneQueue;
beforeEach(() => {
  queue = new LaneQueue();
});
const taken = (now: number, most = 10) => queue.take(most, now).map(({ endpointId }) => endpointId);

describe('lanes', () => {
  it('have their turns in the order in which they were asked for, each once', () => {
    for (const id of ['b', 'a', 'b', 'c']) queue.add(id, 0, 0);
    expect(taken(0, 2)).toEqual(['b', 'a']);
    queue.add('b', 0, 0);
    expect(taken(0)).toEqual(['c', 'b']);
    expect(taken(0)).toEqual([]);
  });

  it('wait for their moment, the earlier of two', () => {
    queue.add('a', 10, 0);
    queue.add('a', 5, 0);
    queue.add('a', 20, 0);
    expect(queue.next()).toBe(5);
    expect(taken(4)).toEqual([]);
    expect(taken(5)).toEqual(['a']);
    expect(queue.next()).toBeUndefined();
  });

  it('go on where the last look ended', () => {
    queue.looked({ endpointId: 'a', after: 'key' });
    queue.add('a', 0, 0);
    expect(queue.take(1, 0)).toEqual([{ endpointId: 'a', after: 'key' }]);
    queue.looked({ endpointId: 'a', after: '' });
    queue.add('a', 0, 0);
    expect(queue.take(1, 0)).toEqual([{ endpointId: 'a', after: '' }]);
  });

  it('that are locked are tried a few times, ever later', () => {
    const waits: (number | undefined)[] = [];
    for (let tries = 0; tries < 7; tries++) {
      queue.missed('a', 0);
      waits.push(queue.next());
      queue.take(1, 1_000);
    }
    expect(waits).toEqual([4, 8, 16, 32, 64, 128, undefined]);
  });
});
