import { expect, it } from 'vitest';
import { Model } from './engine/model.ts';
import { type Entry, newEntry } from './model-entry.ts';
import { makeRoom } from './model-memory.ts';
import { tuple } from './testing.ts';

/** Entries with full models of the given numbers of tuples, used one after the other. */
function entriesOf(sizes: readonly number[]): Map<string, Entry> {
  return new Map(
    sizes.map((size, usedAt) => {
      const model = new Model('full');
      model.addTuples(
        Array.from({ length: size }, (_, n) => ({
          ...tuple(`document:${n}#viewer@user:${n}`),
          ...{ relation: 'viewer', id: `rel_${n}`, expires_at: null },
        })),
      );
      model.loaded(1);
      return [`t${usedAt}`, { ...newEntry(`t${usedAt}`), model, usedAt }];
    }),
  );
}

const loaded = (entries: Map<string, Entry>) =>
  [...entries.values()].filter(({ model }) => model).map(({ tenant }) => tenant);

it('keeps everything while there is room', () => {
  const entries = entriesOf([10, 10]);
  makeRoom(entries, { memory: 1_000_000, preloadFacts: 100 });
  expect(loaded(entries)).toEqual(['t0', 't1']);
});

it('lets the least recently used go first, and forgets them', () => {
  const entries = entriesOf([10, 10, 10]);
  makeRoom(entries, { memory: 400_000, preloadFacts: 100 });
  expect(loaded(entries)).toEqual(['t1', 't2']);
  expect(entries.has('t0')).toBe(false);
});

it('counts what empty models take: ten thousand small tenants do not fill the process', () => {
  const entries = entriesOf(Array<number>(50).fill(0));
  makeRoom(entries, { memory: 165_000 * 10 + 10_000, preloadFacts: 100 });
  expect(loaded(entries)).toHaveLength(10);
});

it('leaves alone what a request uses', () => {
  const entries = entriesOf([10, 10]);
  for (const entry of entries.values()) entry.users = 1;
  makeRoom(entries, { memory: 0, preloadFacts: 100 });
  expect(loaded(entries)).toEqual(['t0', 't1']);
});

it('lets a full model go when it has doubled', () => {
  const entries = entriesOf([21, 20]);
  makeRoom(entries, { memory: 1_000_000, preloadFacts: 10 });
  expect(loaded(entries)).toEqual(['t1']);
});
