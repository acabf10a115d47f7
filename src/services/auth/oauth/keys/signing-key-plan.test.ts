import { calculateJwkThumbprint } from 'jose';
import { describe, expect, it } from 'vitest';
import { type AgedKey, plansOf, untilRoom } from './signing-key-plan.ts';

const day = 86_400_000;
const key = (kid: string, state: AgedKey['state'], days: number, published = days): AgedKey => ({
  kid,
  alg: 'ES256',
  state,
  published_ms: published * day,
  active_ms: state === 'next' ? null : days * day,
  retired_ms: state === 'retired' ? days * day : null,
});
/** The plan for ES256. */
const plan = (keys: readonly AgedKey[], forced = false) =>
  plansOf(keys, forced).find(({ alg }) => alg === 'ES256');

describe('what is due to the keys', () => {
  it('makes one that signs and one that will, of each algorithm, where there are none', () => {
    expect(plansOf([], false)).toEqual(
      ['ES256', 'RS256'].map((alg) => ({
        alg,
        retire: undefined,
        activate: undefined,
        make: ['active', 'next'],
        remove: [],
      })),
    );
  });

  it('is nothing while all are in their time', () => {
    expect(plan([key('a', 'active', 89.9), key('n', 'next', 10), key('r', 'retired', 6.9)])).toBeUndefined();
  });

  it('turns them after 90 days', () => {
    expect(plan([key('a', 'active', 90), key('n', 'next', 1)])).toMatchObject({
      retire: 'a',
      activate: 'n',
      make: ['next'],
    });
  });

  it('waits until the next one has been published for a day, unless it is forced', () => {
    const keys = [key('a', 'active', 90), key('n', 'next', 0.99)];
    expect(plan(keys)).toBeUndefined();
    expect(plan(keys, true)).toMatchObject({ retire: 'a', activate: 'n', make: ['next'] });
  });

  it('publishes a next one where there is none, and makes both when it is forced then', () => {
    expect(plan([key('a', 'active', 1)])).toMatchObject({ retire: undefined, make: ['next'] });
    expect(plan([key('a', 'active', 1)], true)).toMatchObject({ retire: 'a', make: ['active', 'next'] });
  });

  it('lets the next one sign where none does', () => {
    expect(plan([key('n', 'next', 0)])).toMatchObject({ retire: undefined, activate: 'n', make: ['next'] });
  });

  it('removes what was retired a week ago, and nothing before', () => {
    const kept = [key('a', 'active', 1), key('n', 'next', 1)];
    expect(plan([...kept, key('r', 'retired', 7), key('s', 'retired', 6)])).toMatchObject({ remove: ['r'] });
    const retired = Array.from({ length: 8 }, (_, at) => key(`r${at}`, 'retired', at / 10));
    expect(plan([...kept, ...retired])).toBeUndefined();
    expect(plan([...kept, ...retired], true)).toMatchObject({ retire: 'a', remove: [] });
  });

  it('finds room for eight that were retired within a week, and says how long another has to wait', () => {
    const kept = [key('a', 'active', 1), key('n', 'next', 1)];
    const retired = Array.from({ length: 8 }, (_, at) => key(`r${at}`, 'retired', at / 2));
    expect(untilRoom([])).toBe(0);
    expect(untilRoom([...kept, ...retired.slice(1)])).toBe(0);
    expect(untilRoom([...kept, ...retired])).toBe(3.5 * day);
    expect(untilRoom([...kept, ...retired.slice(0, 7), key('old', 'retired', 7)])).toBe(0);
    expect(untilRoom(retired.map((one) => ({ ...one, alg: 'RS256' as const })))).toBe(3.5 * day);
  });
});

it('names a key by its thumbprint, as RFC 7638 shows', async () => {
  const n =
    '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3okn' +
    'jhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQ' +
    'vRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw';
  const key = { kty: 'RSA', n, e: 'AQAB', alg: 'RS256', kid: '2011-04-29' };
  expect(await calculateJwkThumbprint(key)).toBe('NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs');
});
