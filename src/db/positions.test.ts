import fc from 'fast-check';
import { expect, test } from 'vitest';
import { positions } from './positions.ts';

const key = (id: string) => ({ kind: 'key', id });

test('an entry counts until one of its subjects changes', () => {
  const seen = positions();
  const position = seen.position();
  seen.mark(key('other'));
  expect(seen.isCurrent(position, [key('a'), key('b')])).toBe(true);
  seen.mark(key('b'));
  expect(seen.isCurrent(position, [key('a'), key('b')])).toBe(false);
  expect(seen.isCurrent(seen.position(), [key('a'), key('b')])).toBe(true);
});

test('a change of one kind is none of another kind with the same id', () => {
  const seen = positions();
  const position = seen.position();
  seen.mark({ kind: 'policy', id: 'a' });
  expect(seen.isCurrent(position, [key('a')])).toBe(true);
});

test('nothing from before changes were missed counts', () => {
  const seen = positions();
  const before = seen.position();
  seen.forget();
  expect(seen.isCurrent(before, [])).toBe(false);
  expect(seen.isCurrent(seen.position(), [key('a')])).toBe(true);
});

test('with any limit and any history, an entry whose subject changed is never current', () => {
  const step = fc.oneof(
    fc.record({ mark: fc.integer({ min: 0, max: 20 }) }),
    fc.record({ fill: fc.integer({ min: 0, max: 20 }) }),
    fc.constant({ forget: true as const }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 2, max: 10 }), (steps, limit) => {
      const seen = positions(limit);
      const entries = new Map<number, { position: number; stale: boolean }>();
      for (const each of steps) {
        if ('mark' in each) {
          seen.mark(key(String(each.mark)));
          const entry = entries.get(each.mark);
          if (entry !== undefined) entry.stale = true;
        } else if ('fill' in each) {
          entries.set(each.fill, { position: seen.position(), stale: false });
          expect(seen.isCurrent(seen.position(), [key(String(each.fill))])).toBe(true);
        } else {
          seen.forget();
          for (const entry of entries.values()) entry.stale = true;
        }
        for (const [id, { position, stale }] of entries)
          if (stale) expect(seen.isCurrent(position, [key(String(id))])).toBe(false);
      }
    }),
  );
});
