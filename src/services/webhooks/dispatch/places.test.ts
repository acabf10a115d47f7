import { describe, expect, it } from 'vitest';
import { Places } from './places.ts';

const hanging = (tenantId: string) => ({ tenantId, isUnproven: true });
const working = { tenantId: 'working', isUnproven: false };

describe('of 64 places', () => {
  it('the unproven receivers of a tenant have four at once, and those of all tenants half', () => {
    const places = new Places(64);
    for (let tenant = 0; tenant < 8; tenant++) {
      expect(places.unprovenOf(`t${tenant}`)).toBe(4);
      for (let taken = 0; taken < 4; taken++) places.take(hanging(`t${tenant}`));
      expect(places.unprovenOf(`t${tenant}`)).toBe(0);
    }
    expect([places.unproven, places.unprovenOf('other'), places.left]).toEqual([0, 0, 32]);
    places.giveBack(hanging('t3'));
    expect([places.unproven, places.unprovenOf('t3'), places.unprovenOf('other')]).toEqual([1, 1, 1]);
    expect(places.takenUnproven.get('t3')).toBe(3);
  });

  it('those that work have all that are left', () => {
    const places = new Places(64);
    places.take(hanging('t'));
    for (let taken = 0; taken < 62; taken++) places.take(working);
    expect([places.left, places.unproven, places.unprovenOf('t')]).toEqual([1, 1, 1]);
    places.take(working);
    expect([places.left, places.unproven, places.unprovenOf('t')]).toEqual([0, 0, 0]);
    places.giveBack(hanging('t'));
    expect([places.left, [...places.takenUnproven]]).toEqual([1, []]);
  });
});

it('of a single place everybody may have it', () => {
  expect(new Places(1).unprovenOf('t')).toBe(1);
});
