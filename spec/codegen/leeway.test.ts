import { describe, expect, test } from 'vitest';
import type { Schema } from './contract.ts';
import { leewayOf, withoutRestored } from './leeway.ts';

const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
const schemas: Record<string, Schema> = {
  Create: { type: 'object', properties: { name: {} }, 'x-ignored': ['id'] },
  Update: {
    type: 'object',
    properties: {
      note: { anyOf: [{ type: 'string' }, { type: 'null' }], maxLength: 5 },
      settings: ref('Settings'),
    },
    'x-ignored': ['id'],
    'x-restores': { note: '' },
  },
  Settings: {
    type: 'object',
    properties: { on: { type: 'boolean' } },
    'x-ignored': [],
    'x-restores': { on: true },
  },
  Batch: {
    type: 'object',
    properties: { list: ref('Creates'), map: { unevaluatedProperties: ref('Create') } },
  },
  Creates: { type: 'array', items: { anyOf: [ref('Create'), { type: 'null' }] } },
  Plain: { type: 'object', properties: { name: { type: 'string' } } },
  Tree: {
    type: 'object',
    properties: { children: { type: 'array', items: ref('Tree') } },
    'x-ignored': ['id'],
  },
  Folded: { type: 'object', properties: { NodeID: {}, latest_hlc: {} }, 'x-folded': true },
  Ambiguous: { type: 'object', properties: { NodeID: {}, node_id: {} }, 'x-folded': true },
  Either: { oneOf: [ref('Create'), ref('Tree')] },
};
const of = (name: string, verb: string) => leewayOf(schemas, ref(name), verb);

test('names in other spellings are known by what is the same in all of them', () => {
  expect(of('Folded', 'put')).toEqual({ folded: { nodeid: 'NodeID', latesthlc: 'latest_hlc' } });
  expect(() => of('Ambiguous', 'put')).toThrow('two of them differ only in case and underscores');
});

describe('the leeway of a body', () => {
  test('that creates: what the server sets is refused, null is absence', () => {
    expect(of('Create', 'post')).toEqual({ ignored: ['id'], refused: true, nullIsAbsent: true });
    expect(of('Plain', 'post')).toEqual({ nullIsAbsent: true });
  });

  test('that changes: null clears, or gives a default back, further inside as well', () => {
    expect(of('Update', 'put')).toEqual({
      ignored: ['id'],
      restores: { note: '' },
      members: { settings: { restores: { on: true } } },
    });
    expect(of('Plain', 'put')).toBeNull();
  });

  test('that changes what can be read: all but what moves by itself is compared with it', () => {
    const own = {
      Owned: {
        ...schemas['Update'],
        'x-ignored': ['chunk_count', 'revision', 'status', 'tenant_id', 'updatedAt'],
      },
    };
    const ofOwned = (verb: string, readable: boolean) =>
      leewayOf({ ...schemas, ...own }, ref('Owned'), verb, readable)?.fixed;
    expect(ofOwned('put', true)).toEqual(['status', 'tenant_id']);
    expect(ofOwned('put', false)).toBeUndefined();
    expect(ofOwned('post', true)).toBeUndefined();
  });

  test('that creates nothing: what was read is accepted', () => {
    const key = { Key: { ...schemas['Create'], 'x-written-back': true } };
    expect(leewayOf({ ...schemas, ...key }, ref('Key'), 'post')).toEqual({
      ignored: ['id'],
      nullIsAbsent: true,
    });
  });

  test('reaches into items, which are made anew whatever the verb, and into maps', () => {
    const fresh = { ignored: ['id'], nullIsAbsent: true };
    const made = { ...fresh, refused: true };
    const members = (item: object, value: object) => ({ list: { items: item }, map: { values: value } });
    expect(of('Batch', 'post')).toEqual({ nullIsAbsent: true, members: members(made, made) });
    expect(of('Batch', 'put')).toEqual({ members: members(fresh, { ignored: ['id'] }) });
  });

  test('of a schema within itself ends', () => {
    expect(of('Tree', 'put')).toEqual({ ignored: ['id'] });
  });

  test('of models that cannot be told apart is refused', () => {
    expect(() => of('Either', 'post')).toThrow('cannot be told apart');
  });
});

test('validators and handlers do not know the null that gives a default back', () => {
  expect(withoutRestored(schemas)['Update']?.properties?.['note']).toEqual({ type: 'string', maxLength: 5 });
  expect(withoutRestored(schemas)['Plain']).toBe(schemas['Plain']);
});
