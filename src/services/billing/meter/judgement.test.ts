import { describe, expect, it } from 'vitest';
import { isIdentical, judge, repeatsWithin, type SentEvent } from './judgement.ts';

const now = Date.parse('2026-03-01T12:00:00.000Z');
const terms = { now, lateWindowMs: 35 * 86_400_000, isOperator: false };
const shifted = (ms: number) => new Date(now + ms).toISOString();

describe('an event', () => {
  it.each([
    ['without a time happens now', {}, now],
    ['of the past keeps its time', { timestamp: shifted(-1) }, now - 1],
    ['at the edge of the late window', { timestamp: shifted(-35 * 86_400_000) }, now - 35 * 86_400_000],
    ['a little ahead happens now', { timestamp: shifted(300_000) }, now],
    ['of another zone', { timestamp: '2026-03-01T12:30:00+01:00' }, now - 1_800_000],
  ])('%s', (_, event, timestamp) => {
    expect(judge({ quantity: 1, ...event }, terms)).toEqual({ verdict: 'taken', timestamp });
  });

  it.each([
    ['event_too_old', 'timestamp: older than 35 days', { timestamp: shifted(-35 * 86_400_000 - 1) }],
    ['invalid_input', 'timestamp: more than 5 minutes ahead', { timestamp: shifted(300_001) }],
    ['invalid_input', 'quantity: more than 15 significant digits', { quantity: 0.1 + 0.2 }],
    ['forbidden', 'quantity: only the operator may send a negative one', { quantity: -1 }],
  ])('is refused with %s: %s', (code, message, event) => {
    expect(judge({ quantity: 1, ...event }, terms)).toMatchObject({ verdict: 'refused', code, message });
  });

  it('of the operator may correct', () => {
    expect(judge({ quantity: -1 }, { ...terms, isOperator: true }).verdict).toBe('taken');
  });
});

describe('two events with the same key', () => {
  const event: SentEvent = {
    featureKey: 'api_calls',
    quantity: '1.5',
    metadata: { a: 1, b: [2] },
    sentTimestamp: null,
  };
  it('are the same whatever the order of their members', () => {
    expect(isIdentical(event, { ...event, metadata: { b: [2], a: 1 } })).toBe(true);
  });
  it.each<Partial<SentEvent>>([
    { featureKey: 'seats' },
    { quantity: '1' },
    { metadata: { a: 1, b: [3] } },
    { sentTimestamp: now },
  ])('differ by %j', (change) => {
    expect(isIdentical(event, { ...event, ...change })).toBe(false);
  });
});

it('within a batch, later events repeat the first with their key', () => {
  const keys = ['a', null, 'b', 'a', null, 'a'];
  const events = keys.map((idempotencyKey, index) => ({ id: `uevt_${index}`, idempotencyKey }));
  expect([...repeatsWithin(events)]).toEqual([
    ['uevt_3', 'uevt_0'],
    ['uevt_5', 'uevt_0'],
  ]);
});
