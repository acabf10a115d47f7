import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide, decideBatch } from './decide.ts';
import type { Model } from './model.ts';
import {
  check,
  decideWith,
  emptyStore,
  fullModel,
  NOW,
  OPTIONS,
  partialModel,
  randomFrom,
  tuple,
} from './testing.ts';
import type { ResourceTypeRule } from './types.ts';

const DOCUMENT: ResourceTypeRule = {
  id: 'rtype_document',
  name: 'document',
  relations: [
    { name: 'parent', subjects: ['folder'] },
    { name: 'owner', subjects: ['user'] },
    { name: 'viewer', subjects: ['user', 'user:*', 'group#member'], expression: 'this + owner' },
    { name: 'banned', subjects: ['user'] },
  ],
  permissions: [
    { name: 'read', expression: '(viewer + parent->read) - banned' },
    { name: 'share', expression: 'owner & viewer' },
  ],
};
const FOLDER: ResourceTypeRule = {
  id: 'rtype_folder',
  name: 'folder',
  relations: [{ name: 'viewer', subjects: ['user'] }],
  permissions: [{ name: 'read', expression: 'viewer' }],
};
const resource_types = [DOCUMENT, FOLDER];
const allows = (model: Model, text: string, now = NOW) =>
  decide(model, check(text), { ...OPTIONS, now }).answer?.allowed;

describe('the examples of the page', () => {
  test.each([
    [['document:1#viewer@group:eng#member', 'group:eng#member@user:a'], 'user:a read document:1', true],
    [
      ['document:1#viewer@group:eng#member', 'group:eng#member@user:a', 'document:1#banned@user:a'],
      'user:a read document:1',
      false,
    ],
    [['document:2#parent@folder:f', 'folder:f#viewer@user:b'], 'user:b read document:2', true],
    [['document:3#viewer@user:*'], 'service:x read document:3', false],
    [['document:3#viewer@user:*'], 'user:x read document:3', true],
    [
      ['group:a#member@group:b#member', 'group:b#member@group:a#member', 'document:4#viewer@group:a#member'],
      'user:c read document:4',
      false,
    ],
    [['document:5#owner@user:d'], 'user:d share document:5', true],
    [['document:1#viewer@group:eng', 'group:eng#member@user:a'], 'user:a read document:1', false],
  ])('%j: %s is %s', (tuples, question, allowed) => {
    const model = fullModel(emptyStore({ resource_types, tuples: tuples.map((text) => tuple(text)) }));
    expect(allows(model, question)).toBe(allowed);
  });

  test('a plain tuple subject reaches the group itself, not its members', () => {
    const tuples = [tuple('file:1#viewer@group:eng'), tuple('group:eng#member@user:a')];
    const model = fullModel(emptyStore({ tuples }));
    expect(allows(model, 'group:eng viewer file:1')).toBe(true);
    expect(allows(model, 'user:a viewer file:1')).toBe(false);
  });

  test('the answer names the object set and the tuple nearest to the resource', () => {
    const tuples = [tuple('document:1#viewer@group:eng#member'), tuple('group:eng#member@user:a')];
    const model = fullModel(emptyStore({ resource_types, tuples }));
    expect(decide(model, check('user:a read document:1'), OPTIONS).answer).toEqual({
      allowed: true,
      decision: 'allow',
      reason: 'relation "document:1#read" includes user "a"',
      sources: ['rebac'],
      matched_by: { source: 'rebac', rule_id: tuples[0]?.id, detail: 'document:1#viewer@group:eng#member' },
    });
  });
});

test('a tuple grants until the millisecond in which it expires, and again once it is written anew', () => {
  const key = 'file:1#viewer@user:a';
  const model = fullModel(emptyStore({ tuples: [tuple(key, new Date(NOW).toISOString())] }));
  expect(allows(model, 'user:a viewer file:1', NOW - 1)).toBe(true);
  expect(allows(model, 'user:a viewer file:1', NOW)).toBe(false);
  model.apply([{ revision: 2, entity: 'relation', op: 'put', body: [tuple(key)] }]);
  expect(allows(model, 'user:a viewer file:1', NOW)).toBe(true);
});

test('narrowing the subjects of a relation makes tuples ineffective, widening restores them', () => {
  const model = fullModel(emptyStore({ resource_types, tuples: [tuple('folder:f#viewer@user:a')] }));
  const narrowed = { ...FOLDER, relations: [{ name: 'viewer', subjects: ['group#member'] }] };
  model.apply([{ revision: 2, entity: 'resource_type', op: 'put', body: [narrowed] }]);
  expect(allows(model, 'user:a read folder:f')).toBe(false);
  model.apply([{ revision: 3, entity: 'resource_type', op: 'put', body: [FOLDER] }]);
  expect(allows(model, 'user:a read folder:f')).toBe(true);
});

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
    // Rings through one node, short enough for the depth limit, long enough in all.
    const ring = (n: number) => (n % hubs === 0 ? 'hub' : String(n));
    const tuples = Array.from({ length: size }, (_, n) => tuple(`node:${ring(n)}#in@node:${ring(n + 1)}#in`));
    const unique = [...new Map(tuples.map((row) => [`${row.object_id} ${row.subject_id}`, row])).values()];
    const model = fullModel(emptyStore({ resource_types: [node], tuples: unique }));
    const limits = { depth: 200, visits: size + hubs + 1 };
    expect(decide(model, check('user:a in node:hub'), { now: NOW, limits }).answer?.reason).toMatch(
      /^user "a" has no role/,
    );
    expect(decide(model, check('user:a in node:9999'), { now: NOW, limits }).answer?.reason).toMatch(
      /^user "a" has no role/,
    );
    model.apply([{ revision: 2, entity: 'relation', op: 'put', body: [tuple('node:5050#in@user:a')] }]);
    expect(decide(model, check('user:a in node:9999'), { now: NOW, limits }).answer?.allowed).toBe(true);
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
      OPTIONS,
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
  const reason = (model: Model, text: string, options = { now: NOW, limits }) =>
    decide(model, check(text), options).answer?.reason;

  test('a graph wider than the visits is denied with the reason', () => {
    const model = fullModel(emptyStore({ tuples: wide }));
    expect(reason(model, 'user:a viewer file:1')).toBe('evaluation limit reached: visits');
    expect(reason(model, 'user:a viewer file:1', OPTIONS)).toMatch(/has no role/);
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
      decideWith(partialModel(store), store, check('user:a read file:1'), { now: NOW, limits }).reason,
    ).toBe('evaluation limit reached: visits');
  });

  test('a chain deeper than the depth is denied with the reason, unless a shorter proof exists', () => {
    const chain = Array.from({ length: 60 }, (_, n) => tuple(`group:${n}#member@group:${n + 1}#member`));
    const model = fullModel(emptyStore({ tuples: [...chain, tuple('group:60#member@user:a')] }));
    expect(reason(model, 'user:a member group:0', OPTIONS)).toBe('evaluation limit reached: depth');
    expect(reason(model, 'user:a member group:11', OPTIONS)).toMatch(/^relation/);
    model.apply([
      { revision: 2, entity: 'relation', op: 'put', body: [tuple('group:0#member@group:60#member')] },
    ]);
    expect(reason(model, 'user:a member group:0', OPTIONS)).toMatch(/^relation/);
  });

  test('a batch shares four times the visits of a check', () => {
    const model = fullModel(emptyStore({ tuples: wide.slice(0, 150) }));
    const inputs = Array.from({ length: 7 }, () => check('user:a viewer file:1'));
    const answers = decideBatch(model, inputs, { now: NOW, limits }).answer ?? [];
    expect(answers.map(({ sources }) => sources)).toEqual([[], [], [], [], [], ['rebac'], ['rebac']]);
  });
});

test('a check in a group of a million members reads a bounded number of rows', () => {
  const members = Array.from({ length: 5_000 }, (_, n) => tuple(`group:all#member@user:${n}`));
  const store = emptyStore({
    resource_types,
    tuples: [...members, tuple('document:1#viewer@group:all#member')],
  });
  const fetches = { rounds: 0, rows: 0 };
  const model = partialModel(store);
  expect(decideWith(model, store, check('user:77 read document:1'), OPTIONS, fetches).allowed).toBe(true);
  expect(fetches.rows).toBe(2);
  expect(fetches.rounds).toBeLessThanOrEqual(4);
});

test('ids that look like separators, wildcards or prototype names are plain text', () => {
  const ids = ['__proto__', 'constructor', 'a:b', 'a#b', 'a/b', 'a*', '😀', 'x'.repeat(1_024), 'a', 'b'];
  for (const id of ids) {
    const row = { ...tuple('file:1#viewer@user:a'), object_id: id, subject_id: id };
    const model = fullModel(emptyStore({ tuples: [row] }));
    for (const object of ids) {
      for (const subject of ids) {
        const input = { ...check('user:a viewer file:1'), resource_id: object, subject_id: subject };
        expect(decide(model, input, OPTIONS).answer?.allowed).toBe(object === id && subject === id);
      }
    }
  }
  const proto = { ...tuple('__proto__:1#constructor@constructor:a'), object_type: '__proto__' };
  const model = fullModel(emptyStore({ tuples: [proto] }));
  expect(allows(model, 'constructor:a constructor __proto__:1')).toBe(true);
  expect(allows(model, 'constructor:a toString __proto__:1')).toBe(false);
});
