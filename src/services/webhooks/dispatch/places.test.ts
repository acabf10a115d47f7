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

  it('a tenant whose receivers work has three quarters, the next one three quarters of the rest, and so on', () => {
    const places = new Places(64);
    expect(['a', 'b', 'c'].map((tenant) => takeAll(places, tenant))).toEqual([48, 12, 3]);
    places.take(working('d'));
    expect([places.left, places.leftOf('e'), places.unproven.leftOf('e')]).toEqual([0, 0, 0]);
    places.giveBack(working('a'));
    expect(['a', 'b', 'c', 'd', 'e'].map((tenant) => places.leftOf(tenant))).toEqual([0, 0, 0, 1, 1]);
  });
});

it('of a single place everybody may have it', () => {
  const places = new Places(1);
  expect([places.leftOf('t'), places.unproven.leftOf('t')]).toEqual([1, 1]);
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

  it('tenants that take all they may leave a quarter of what was left, and one alone has three quarters', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), fc.integer({ min: 1, max: 8 }), (most, tenants) => {
        const places = new Places(most);
        const first = takeAll(places, 'first');
        expect(first).toBeGreaterThanOrEqual(Math.floor((most * 3) / 4));
        for (let tenant = 1; tenant < tenants; tenant++) takeAll(places, `t${tenant}`);
        expect(places.left).toBeGreaterThanOrEqual(Math.floor(most / 4 ** tenants));
      }),
    );
  });
});

describe('data of 256 KiB each', () => {
  const bytes = 256 * 1_024;

  it('of one tenant leaves room for that of others', () => {
    const places = new Places(10_000);
    expect(takeAll(places, 'a', bytes)).toBe(192);
    expect([places.atOnce, places.leftOf('b')]).toEqual([48, 7_356]);
    expect(takeAll(places, 'b', bytes)).toBe(48);
  });

  it('ends what may begin when there is no room for more', () => {
    const places = new Places(10_000);
    for (let tenant = 0; tenant < 256; tenant++) places.take(working(`t${tenant}`, bytes));
    expect([places.left, places.leftOf('other'), places.unproven.left, places.atOnce]).toEqual([0, 0, 0, 0]);
    places.giveBack(working('t0', bytes));
    expect([places.leftOf('other') > 0, places.atOnce]).toEqual([true, 1]);
  });
});
