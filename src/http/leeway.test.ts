import { describe, expect, test } from 'vitest';
import { applyLeeway as applyJudged } from './leeway.ts';
import type { Leeway } from './operation.ts';

const applyLeeway = (leeway: Leeway, body: unknown) => applyJudged(leeway, body, () => undefined);

test.each([5, 'text', null, undefined, true, []])('a body that is no object is left alone: %j', (body) => {
  expect(() => applyLeeway({ ignored: ['id'], members: { a: { ignored: ['id'] } } }, body)).not.toThrow();
});

test('every place has its own: members, items and values of maps', () => {
  const body = {
    id: 1,
    kept: null,
    one: { id: 2, name: null },
    many: [{ id: 3, name: null }, 'text', null],
    map: { id: { id: 4 }, other: null },
  };
  applyLeeway(
    {
      ignored: ['id'],
      members: {
        one: { ignored: ['id'] },
        many: { items: { ignored: ['id'], nullIsAbsent: true } },
        map: { values: { ignored: ['id'] } },
        absent: { ignored: ['id'] },
      },
    },
    body,
  );
  expect(body).toEqual({
    kept: null,
    one: { name: null },
    many: [{}, 'text', null],
    map: { id: {}, other: null },
  });
});

test('what is dropped is judged before, with its place; null in a new value is absence and is not', () => {
  const judged: unknown[] = [];
  const judge = (...member: unknown[]) => void judged.push(member);
  applyJudged(
    { ignored: ['id'], members: { many: { items: { ignored: ['id'], refused: true, nullIsAbsent: true } } } },
    { id: null, many: [{ id: 1 }, { id: null }, { id: {} }] },
    judge,
  );
  applyJudged({ items: { ignored: ['id'] } }, [{ id: 2 }], judge);
  applyJudged({ values: { ignored: ['id'] } }, { a: { id: 3 } }, judge);
  expect(judged).toEqual([
    ['id', null, '', false],
    ['id', 1, 'many[0].', true],
    ['id', {}, 'many[2].', true],
    ['id', 2, '[0].', false],
    ['id', 3, 'a.', false],
  ]);
});

test('a default that is given back is a copy: who changes it changes no other request', () => {
  const leeway = { restores: { tags: ['a'], count: 0 } };
  const first = { tags: null as string[] | null };
  applyLeeway(leeway, first);
  first.tags!.push('b');
  const second = { tags: null };
  applyLeeway(leeway, second);
  expect(second).toEqual({ tags: ['a'] });
});

describe('names that are folded', () => {
  const leeway = {
    folded: { nodeid: 'NodeID', tables: 'Tables' },
    ignored: ['Tables'],
    members: { Since: { folded: { node: 'node' } } },
  };

  test.each(['NodeID', 'node_id', 'nodeId', 'NODE_ID', 'nodeid'])('%s is the documented name', (name) => {
    const body = { [name]: 'a', other_name: 1 };
    applyLeeway(leeway, body);
    expect(body).toEqual({ NodeID: 'a', other_name: 1 });
  });

  test('are folded before anything else is done with them, at every depth', () => {
    const body = { tables: 1, Since: { NODE: 1 } };
    applyLeeway(leeway, body);
    expect(body).toEqual({ Since: { node: 1 } });
  });

  test('are refused when one is given in two spellings', () => {
    expect(() => applyLeeway(leeway, { node_id: 'a', nodeId: 'b' })).toThrow('NodeID: given more than once');
    expect(() => applyLeeway(leeway, { NodeID: 'a', nodeId: 'b' })).toThrow('NodeID: given more than once');
  });
});
