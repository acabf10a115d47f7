import { expect, test } from 'vitest';
import { Memory } from './memory.ts';

const record = (name: string) => ({ values: { name }, places: new Set<string>() });
const names = (memory: Memory, shelf: string, first: string[] = []) =>
  memory.records(shelf, () => first.map(record)).map(({ values }) => values['name']);

test('a new shelf begins with what it is given, once; the newest record comes first', () => {
  const memory = new Memory(10);
  expect(names(memory, 'roles', ['a', 'b'])).toEqual(['b', 'a']);
  memory.add('roles', record('c'));
  expect(names(memory, 'roles', ['x'])).toEqual(['c', 'b', 'a']);
  expect(names(memory, 'keys')).toEqual([]);
});

test('a shelf that was emptied stays empty', () => {
  const memory = new Memory(10);
  for (const one of memory.records('roles', () => [record('a')])) memory.remove(one);
  expect(names(memory, 'roles', ['a'])).toEqual([]);
  expect(memory.size).toBe(0);
});

test('records grow older in the order in which they came, whatever their shelf', () => {
  const memory = new Memory(10);
  const [one, two] = [memory.add('roles', record('a')), memory.add('keys', record('b'))];
  expect(two.seq).toBeGreaterThan(one.seq);
});

test('the oldest records are forgotten when there are too many, whosever they are', () => {
  const memory = new Memory(3);
  memory.add('one', record('a'));
  for (const name of ['b', 'c', 'd', 'e']) memory.add('other', record(name));
  expect(memory.size).toBe(3);
  expect(names(memory, 'other')).toEqual(['e', 'd', 'c']);
  expect(names(memory, 'one', ['a again'])).toEqual(['a again']);
});
