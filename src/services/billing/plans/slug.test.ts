import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { slugOf } from './slug.ts';

describe('the slug of a name', () => {
  it.each([
    ['Pro', 'pro'],
    ['  Pro & Team (2026)! ', 'pro-team-2026'],
    ['Größe Élite', 'gro-e-elite'],
    ['ﬁne ①', 'fine-1'],
    ['plan_free', 'plan-free'],
    ['企業', 'plan'],
    ['---', 'plan'],
    ['a'.repeat(200), 'a'.repeat(63)],
  ])('%j gives %j', (name, slug) => expect(slugOf(name)).toBe(slug));

  it('is always a valid slug', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }), (name) => {
        expect(slugOf(name)).toMatch(/^(?!plan_)[a-z0-9][a-z0-9_-]{0,62}$/);
      }),
    );
  });
});
