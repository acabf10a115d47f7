import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decide } from './decide.ts';
import { judge } from './oracle.ts';
import { randomCheck, randomStore } from './random-store.ts';
import {
  decideAllWith,
  decideWith,
  fullModel,
  testNow,
  testOptions,
  partialModel,
  randomFrom,
} from './testing.ts';

test('10,000 random stores are decided as a naive fixpoint evaluator decides them', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const random = randomFrom(seed);
      const store = randomStore(random);
      const model = fullModel(store);
      for (let round = 0; round < 4; round++) {
        const input = randomCheck(random);
        const { allowed, sources } = decide(model, input, testOptions).answer ?? {};
        const wanted = judge(store, input, testNow);
        seen.add(`${wanted.allowed} ${wanted.source}`);
        expect({ allowed, sources }).toEqual({
          allowed: wanted.allowed,
          sources: wanted.source ? [wanted.source] : [],
        });
      }
    }),
    { numRuns: 10_000 },
  );
  expect([...seen].sort()).toEqual(['false abac', 'false undefined', 'true abac', 'true rbac', 'true rebac']);
}, 60_000);

test('a partial model answers as a full one, also with every slice evicted between the requests', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const random = randomFrom(seed);
      const store = randomStore(random);
      const [full, partial, forgetful] = [fullModel(store), partialModel(store), partialModel(store)];
      const empty = forgetful.factCount;
      const inputs = Array.from({ length: 6 }, () => randomCheck(random));
      const wanted = inputs.map((input) => decideWith(full, store, input));
      expect(inputs.map((input) => decideWith(partial, store, input))).toEqual(wanted);
      expect(decideAllWith(partialModel(store), store, inputs)).toEqual(wanted);
      inputs.forEach((input, index) => {
        expect(decideWith(forgetful, store, input)).toEqual(wanted[index]);
        forgetful.evict(0);
        expect(forgetful.factCount).toBe(empty);
      });
    }),
    { numRuns: 1_500 },
  );
}, 60_000);

test('the limit of depth counts the nesting of a derivation, so detours and cycles that a search takes cost nothing', () => {
  const seen = { definite: 0, limited: 0 };
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const random = randomFrom(seed);
      const store = randomStore(random);
      store.policies = [];
      const model = fullModel(store);
      const partial = partialModel(store);
      const input = { ...randomCheck(random), resource_id: '1' };
      const depth = 4 + random(8);
      const options = { ...testOptions, limits: { ...testOptions.limits, depth } };
      const answer = decide(model, input, options).answer!;
      const wanted = judge(store, input, testNow);
      if (answer.reason === 'evaluation limit reached: depth') {
        // No node of these worlds is further than this from another one: with this depth everything is decided.
        expect(depth).toBeLessThan(11);
        seen.limited++;
      } else {
        expect(answer.allowed).toBe(wanted.allowed);
        seen.definite++;
      }
      expect(decideWith(partial, store, input, options).allowed).toBe(answer.allowed);
    }),
    // In the world of this example a value was false because a node counted as false that was then unknown.
    { numRuns: 6_000, examples: [[-251745411]] },
  );
  expect(seen.limited).toBeGreaterThan(10);
}, 60_000);
