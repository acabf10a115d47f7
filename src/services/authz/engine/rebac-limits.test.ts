import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide, decideBatch } from './decide.ts';
import type { Model } from './model.ts';
import {
  check,
  decideWith,
  emptyStore,
  fullModel,
  partialModel,
  randomFrom,
  testNow,
  testOptions,
  tuple,
} from './testing.ts';
import type { ResourceTypeRule } from './types.ts';

const allows = (model: Model, text: string) => decide(model, check(text), testOptions).answer?.allowed;

describe('cycles', () => {
  const node: ResourceTypeRule = {
    id: 'rtype_node',
    name: 'node',
    relations: [{ name: 'in', subjects: ['user', 'node#in'] }],
    permissions: [],
  };

  test('every node of a random graph that reaches the user is found to, whatever was asked before it', () => {
    const names = Array.from({ length: 8 }, (_, index) => `n${index}`);
    const probe: ResourceTypeRule = {
      id: 'rtype_probe',
      name: 'probe',
      relations: names.map((name) => ({ name, subjects: ['node#in'] })),
      permissions: [{ name: 'all', expression: names.join(' & ') }],
    };
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const random = randomFrom(seed);
        const edges = Array.from({ length: 22 }, () => [random(12), random(12)] as const);
        const reaching = new Set([0]);
        for (let size = 0; size < reaching.size;) {
          size = reaching.size;
          for (const [from, to] of edges) if (reaching.has(to)) reaching.add(from);
        }
        const targets = names.map(() => [...reaching][random(reaching.size)] ?? 0);
        const lost = Array.from({ length: 12 }, (_, index) => index).find((index) => !reaching.has(index));
        const texts = new Set([
          'node:0#in@user:a',
          ...edges.map(([from, to]) => `node:${from}#in@node:${to}#in`),
          ...targets.map((target, index) => `probe:1#${names[index]}@node:${target}#in`),
          ...targets.map(
            (target, index) => `probe:2#${names[index]}@node:${index === 7 ? (lost ?? target) : target}#in`,
          ),
        ]);
        const store = emptyStore({
          resource_types: [node, probe],
          tuples: [...texts].map((text) => tuple(text)),
        });
        const model = fullModel(store);
        expect(allows(model, 'user:a all probe:1')).toBe(true);
        expect(allows(model, 'user:a all probe:2')).toBe(lost === undefined);
      }),
      { numRuns: 3_000 },
    );
  }, 60_000);

  test('a cycle of 10,000 nodes is visited once a node, without a user and with one', () => {
    const size = 10_000;
    const hubs = 100;
    // Rings through one node: each is short enough for the depth limit, but together they are long.
    const ring = (n: number) => (n % hubs === 0 ? 'hub' : String(n));
    const tuples = Array.from({ length: size }, (_, n) => tuple(`node:${ring(n)}#in@node:${ring(n + 1)}#in`));
    const unique = [...new Map(tuples.map((row) => [`${row.object_id} ${row.subject_id}`, row])).values()];
    const model = fullModel(emptyStore({ resource_types: [node], tuples: unique }));
    const limits = { depth: 200, visits: size + hubs + 1 };
    expect(decide(model, check('user:a in node:hub'), { now: testNow, limits }).answer?.reason).toMatch(
      /^user "a" has no role/,
    );
    expect(decide(model, check('user:a in node:9999'), { now: testNow, limits }).answer?.reason).toMatch(
      /^user "a" has no role/,
    );
    model.apply([{ revision: 2, entity: 'relation', op: 'put', body: [tuple('node:5050#in@user:a')] }]);
    expect(decide(model, check('user:a in node:9999'), { now: testNow, limits }).answer?.allowed).toBe(true);
  });

  test('an exclusion cycle through undefined types is a limit, not an answer', () => {
    const odd: ResourceTypeRule = {
      id: 'rtype_odd',
      name: 'odd',
      relations: [
        { name: 'all', subjects: ['user'] },
        { name: 'but', subjects: ['loose#m'] },
      ],
      permissions: [{ name: 'rest', expression: 'all - but' }],
    };
    const tuples = ['odd:1#all@user:a', 'odd:1#but@loose:1#m', 'loose:1#m@odd:1#rest'].map((text) =>
      tuple(text),
    );
    const answer = decide(
      fullModel(emptyStore({ resource_types: [odd], tuples })),
      check('user:a rest odd:1'),
      testOptions,
    ).answer;
    expect(answer).toEqual({
      allowed: false,
      decision: 'deny',
      reason: 'evaluation limit reached: exclusion cycle',
      sources: ['rebac'],
      matched_by: null,
    });
  });
});

describe('limits', () => {
  const wide = Array.from({ length: 300 }, (_, n) => tuple(`file:1#viewer@group:${n}#member`));
  const limits = { depth: 50, visits: 200 };
  const reason = (model: Model, text: string, options = { now: testNow, limits }) =>
    decide(model, check(text), options).answer?.reason;

  test('a graph wider than the visits is denied with the reason', () => {
    const model = fullModel(emptyStore({ tuples: wide }));
    expect(reason(model, 'user:a viewer file:1')).toBe('evaluation limit reached: visits');
    expect(reason(model, 'user:a viewer file:1', testOptions)).toMatch(/has no role/);
  });

  test('an unknown is never turned into an allow by an exclusion', () => {
    const type: ResourceTypeRule = {
      id: 'rtype_file',
      name: 'file',
      relations: [
        { name: 'reader', subjects: ['user'] },
        { name: 'viewer', subjects: ['group#member'] },
      ],
      permissions: [{ name: 'read', expression: 'reader - viewer' }],
    };
    const store = emptyStore({ resource_types: [type], tuples: [...wide, tuple('file:1#reader@user:a')] });
    expect(reason(fullModel(store), 'user:a read file:1')).toBe('evaluation limit reached: visits');
    expect(
      decideWith(partialModel(store), store, check('user:a read file:1'), { now: testNow, limits }).reason,
    ).toBe('evaluation limit reached: visits');
  });

  test('a chain deeper than the depth is denied with the reason, unless a shorter proof exists', () => {
    const chain = Array.from({ length: 60 }, (_, n) => tuple(`group:${n}#member@group:${n + 1}#member`));
    const model = fullModel(emptyStore({ tuples: [...chain, tuple('group:60#member@user:a')] }));
    expect(reason(model, 'user:a member group:0', testOptions)).toBe('evaluation limit reached: depth');
    expect(reason(model, 'user:a member group:11', testOptions)).toMatch(/^relation/);
    model.apply([
      { revision: 2, entity: 'relation', op: 'put', body: [tuple('group:0#member@group:60#member')] },
    ]);
    expect(reason(model, 'user:a member group:0', testOptions)).toMatch(/^relation/);
  });

  test('60 groups that name each other are no deeper than the shortest way through them', () => {
    const all = Array.from({ length: 60 }, (_, n) => n);
    const mutual = all.flatMap((from) =>
      all.filter((to) => to !== from).map((to) => tuple(`group:${from}#member@group:${to}#member`)),
    );
    const store = emptyStore({
      tuples: [...mutual, tuple('file:1#viewer@group:0#member'), tuple('group:59#member@user:a')],
    });
    for (const depth of [50, 5, 3]) {
      const options = { ...testOptions, limits: { ...testOptions.limits, depth } };
      expect(reason(fullModel(store), 'user:a viewer file:1', options)).toMatch(/^relation/);
      expect(reason(fullModel(store), 'user:b viewer file:1', options)).toMatch(/has no role/);
      expect(decideWith(partialModel(store), store, check('user:a viewer file:1'), options).allowed).toBe(
        true,
      );
    }
  });

  test('a batch shares four times the visits of a check', () => {
    const model = fullModel(emptyStore({ tuples: wide.slice(0, 150) }));
    const inputs = Array.from({ length: 7 }, () => check('user:a viewer file:1'));
    const answers = decideBatch(model, inputs, { now: testNow, limits }).answer ?? [];
    expect(answers.map(({ sources }) => sources)).toEqual([[], [], [], [], [], ['rebac'], ['rebac']]);
  });
});
