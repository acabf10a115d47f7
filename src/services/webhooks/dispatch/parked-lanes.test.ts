import { beforeEach, describe, expect, it } from 'vitest';
import { ParkedLanes } from './parked-lanes.ts';

let parked: ParkedLanes;
beforeEach(() => {
  parked = new ParkedLanes();
  for (const id of ['a1', 'a2', 'a3', 'b1', 'b2', 'a1']) parked.park(id, id[0]!);
});
const room = (left: number, most: Readonly<Record<string, number>> = {}) => ({
  left,
  leftOf: (tenantId: string) => Math.min(left, most[tenantId] ?? left),
});

describe('parked lanes', () => {
  it('go on when there is a place, tenants in turn', () => {
    expect(parked.take(room(1))).toEqual(['a1']);
    expect(parked.take(room(1))).toEqual(['b1']);
    expect(parked.take(room(2))).toEqual(['a2', 'a3']);
    expect(parked.take(room(9))).toEqual(['b2']);
    expect(parked.take(room(9))).toEqual([]);
  });

  it('wait while their tenant has no place', () => {
    const onlyB = room(9, { a: 0, b: 1 });
    expect(parked.isNext(onlyB)).toBe(true);
    expect(parked.take(onlyB)).toEqual(['b1']);
    expect(parked.isNext(room(9, { a: 0, b: 0 }))).toBe(false);
    expect(parked.isNext(room(0))).toBe(false);
  });

  it('are known until they go on', () => {
    expect(parked.has('a1')).toBe(true);
    parked.take(room(1));
    expect([parked.has('a1'), parked.has('a2')]).toEqual([false, true]);
  });
});
