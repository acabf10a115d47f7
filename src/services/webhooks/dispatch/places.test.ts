import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Holder, Places } from './places.ts';

const hanging = (tenantId: string): Holder => ({ tenantId, isUnproven: true, bytes: 1_000 });
const working = (tenantId: string, bytes = 1_000): Holder => ({ tenantId, isUnproven: false, bytes });

/** Takes places for a tenant for as long as it may, and returns how many that were. */
function takeAll(places: Places, tenantId: string, bytes?: number): number {
  let taken = 0;
  for (; places.leftOf(tenantId) > 0; taken++) places.take(working(tenantId, bytes));
  return taken;
}

describe('of 64 places', () => {
  it('the unproven receivers of a tenant have four at once, and those of all tenants half', () => {
    const places = new Places(64);
    const { unproven } = places;
    for (let tenant = 0; tenant < 8; tenant++) {
      expect(unproven.leftOf(`t${tenant}`)).toBe(4);
      for (let taken = 0; taken < 4; taken++) places.take(hanging(`t${tenant}`));
      expect(unproven.leftOf(`t${tenant}`)).toBe(0);
    }
    expect([unproven.left, unproven.leftOf('other'), places.left]).toEqual([0, 0, 32]);
    places.giveBack(hanging('t3'));
    expect([unproven.left, unproven.leftOf('t3'), unproven.leftOf('other')]).toEqual([1, 1, 1]);
    expect(places.loads().get('t3')).toEqual({ places: 3, unproven: 3 });
  });

  it('a tenant has three quarters, and the next ones share the rest', () => {
    const places = new Places(64);
    expect([...'abcdefgh'].map((tenant) => takeAll(places, tenant))).toEqual([48, 4, 2, 2, 1, 1, 1, 1]);
    for (const tenant of 'ijkl') places.take(working(tenant));
    expect([places.left, places.leftOf('m'), places.unproven.leftOf('m')]).toEqual([0, 0, 0]);
    places.giveBack(working('a'));
    expect([...'abcim'].map((tenant) => places.leftOf(tenant))).toEqual([0, 0, 0, 0, 1]);
  });
});

it('of 1,024 places an eighth is left after five tenants that began to hang one after the other', () => {
  const places = new Places(1_024);
  expect([...'abcde'].map((tenant) => takeAll(places, tenant))).toEqual([768, 60, 25, 22, 19]);
  expect(places.left).toBe(130);
});

it('two tenants that want more than there is end up with as many places each', () => {
  const places = new Places(1_024);
  takeAll(places, 'a');
  takeAll(places, 'b');
  // What ends at the one that has more goes to the other, which waits.
  while (places.leftOf('a') === 0) {
    places.giveBack(working('a'));
    takeAll(places, 'b');
  }
  const [a, b] = [...places.loads().values()].map((load) => load.places);
  expect(Math.abs(a! - b!)).toBeLessThanOrEqual(places.rules.perFree);
  expect(places.left).toBeGreaterThan(1_024 / 5);
});

describe('however many places there are, and whoever takes and gives back', () => {
  const steps = fc.array(
    fc.record({ tenant: fc.nat(5).map(String), takes: fc.boolean(), isUnproven: fc.boolean() }),
    { maxLength: 300 },
  );

  it('a tenant without any has one while one is left, and what it is told to have left it can take', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), steps, (most, all) => {
        const places = new Places(most);
        const held: Holder[] = [];
        for (const { tenant, takes, isUnproven } of all) {
          const room = isUnproven ? places.unproven : places;
          const at = held.findIndex((holder) => holder.tenantId === tenant);
          if (takes && room.leftOf(tenant) > 0) {
            held.push({ tenantId: tenant, isUnproven, bytes: 1_000 });
            places.take(held.at(-1)!);
          } else if (!takes && at >= 0) places.giveBack(held.splice(at, 1)[0]!);
          expect(places.left).toBe(most - held.length);
          expect(places.leftOf('nobody') > 0).toBe(places.left > 0);
        }
        const told = places.leftOf('0');
        expect(takeAll(places, '0')).toBe(told);
        for (const holder of held) places.giveBack(holder);
        for (let taken = 0; taken < told; taken++) places.giveBack(working('0'));
        expect([places.left, places.loads().size]).toEqual([most, 0]);
      }),
    );
  });

  it('one tenant alone has three quarters, and five leave an eighth, but for the rounding', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), (most) => {
        const places = new Places(most);
        const [first = 0] = [...'abcde'].map((tenant) => takeAll(places, tenant));
        expect(first).toBeGreaterThanOrEqual(Math.floor((most * 3) / 4));
        expect(places.left).toBeGreaterThanOrEqual(Math.floor(most / 8) - 2);
      }),
    );
  });
});

describe('data of 256 KiB each', () => {
  const bytes = 256 * 1_024;

  it('of one tenant leaves room for that of others', () => {
    const places = new Places(10_000);
    expect(takeAll(places, 'a', bytes)).toBe(192);
    expect([places.atOnce, places.leftOf('a'), places.leftOf('b')]).toEqual([14, 0, 7_323]);
    expect(takeAll(places, 'b', bytes)).toBe(15);
  });

  it('ends what may begin when there is no room for more', () => {
    const places = new Places(10_000);
    for (let tenant = 0; tenant < 256; tenant++) places.take(working(`t${tenant}`, bytes));
    expect([places.left, places.leftOf('other'), places.unproven.left, places.atOnce]).toEqual([0, 0, 0, 0]);
    places.giveBack(working('t0', bytes));
    expect([places.leftOf('other') > 0, places.atOnce]).toEqual([true, 1]);
  });
});
