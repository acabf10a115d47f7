import { describe, expect, test } from 'vitest';
import { decide } from './decide.ts';
import type { Model } from './model.ts';
import {
  check,
  decideWith,
  emptyStore,
  fullModel,
  testNow,
  testOptions,
  partialModel,
  tuple,
} from './testing.ts';
import { checkResourceType } from './type-graph.ts';
import type { ResourceTypeRule } from './types.ts';

const document: ResourceTypeRule = {
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
const folder: ResourceTypeRule = {
  id: 'rtype_folder',
  name: 'folder',
  relations: [{ name: 'viewer', subjects: ['user'] }],
  permissions: [{ name: 'read', expression: 'viewer' }],
};
const resource_types = [document, folder];
const allows = (model: Model, text: string, now = testNow) =>
  decide(model, check(text), { ...testOptions, now }).answer?.allowed;

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
    expect(decide(model, check('user:a read document:1'), testOptions).answer).toEqual({
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
  const model = fullModel(emptyStore({ tuples: [tuple(key, new Date(testNow).toISOString())] }));
  expect(allows(model, 'user:a viewer file:1', testNow - 1)).toBe(true);
  expect(allows(model, 'user:a viewer file:1', testNow)).toBe(false);
  model.apply([{ revision: 2, entity: 'relation', op: 'put', body: [tuple(key)] }]);
  expect(allows(model, 'user:a viewer file:1', testNow)).toBe(true);
});

test('narrowing the subjects of a relation makes tuples ineffective, widening restores them', () => {
  const model = fullModel(emptyStore({ resource_types, tuples: [tuple('folder:f#viewer@user:a')] }));
  const narrowed = { ...folder, relations: [{ name: 'viewer', subjects: ['group#member'] }] };
  model.apply([{ revision: 2, entity: 'resource_type', op: 'put', body: [narrowed] }]);
  expect(allows(model, 'user:a read folder:f')).toBe(false);
  model.apply([{ revision: 3, entity: 'resource_type', op: 'put', body: [folder] }]);
  expect(allows(model, 'user:a read folder:f')).toBe(true);
});

describe('arrows through usersets', () => {
  const list: ResourceTypeRule = {
    id: 'rtype_list',
    name: 'list',
    relations: [
      { name: 'member', subjects: ['user', 'list#member'] },
      { name: 'owner', subjects: ['user'] },
    ],
    permissions: [],
  };
  const event: ResourceTypeRule = {
    id: 'rtype_event',
    name: 'event',
    relations: [
      { name: 'invitee', subjects: ['user', 'user:*'] },
      { name: 'blacklist', subjects: ['list', 'list#member'] },
    ],
    permissions: [
      { name: 'attend', expression: 'invitee - blacklist->member' },
      { name: 'mind', expression: 'blacklist->owner' },
    ],
  };
  const texts = [
    'event:1#invitee@user:*',
    'event:1#blacklist@list:bad#member',
    'list:bad#member@user:b',
    'list:bad#member@list:worse#member',
    'list:worse#member@user:w',
    'list:bad#owner@user:o',
  ];

  test.each([
    ['user:a attend event:1', true],
    ['user:b attend event:1', false],
    ['user:w attend event:1', false],
    ['user:o mind event:1', true],
    ['user:b mind event:1', false],
  ])('%s is %s', (question, allowed) => {
    const store = emptyStore({
      resource_types: [list, event],
      tuples: texts.map((text) => tuple(text)),
    });
    expect(allows(fullModel(store), question)).toBe(allowed);
    expect(decideWith(partialModel(store), store, check(question)).allowed).toBe(allowed);
  });

  test('a wildcard before an arrow is refused on write, and denies where a type from before has it', () => {
    const open = { ...event, relations: [event.relations[0]!, { name: 'blacklist', subjects: ['list:*'] }] };
    expect(() => checkResourceType(open, [list])).toThrow(
      'permissions[0].expression: "->" cannot follow "blacklist", which admits "list:*" at 11',
    );
    const tuples = ['event:1#invitee@user:a', 'event:1#blacklist@list:*', 'list:bad#member@user:a'];
    const store = emptyStore({ resource_types: [list, open], tuples: tuples.map((text) => tuple(text)) });
    expect(decide(fullModel(store), check('user:a attend event:1'), testOptions).answer?.reason).toBe(
      'evaluation limit reached: wildcard behind an arrow',
    );
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
  expect(decideWith(model, store, check('user:77 read document:1'), testOptions, fetches).allowed).toBe(true);
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
        expect(decide(model, input, testOptions).answer?.allowed).toBe(object === id && subject === id);
      }
    }
  }
  const proto = { ...tuple('__proto__:1#constructor@constructor:a'), object_type: '__proto__' };
  const model = fullModel(emptyStore({ tuples: [proto] }));
  expect(allows(model, 'constructor:a constructor __proto__:1')).toBe(true);
  expect(allows(model, 'constructor:a toString __proto__:1')).toBe(false);
});
