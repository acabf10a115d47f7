import { expect, test } from 'vitest';
import { Memory } from './memory.ts';

const roomy = { all: 100, tenant: 50, content: 10_000, contents: 20_000 };
const record = (name: string) => ({ values: { name }, places: new Set<string>() });
const by = (tenant: string, client = 'client') => ({ tenant, client });
const one = by('one');
const names = (memory: Memory, caller = one, first: string[] = [], writes = false) =>
  memory.records(caller, 'roles', () => first.map(record), writes).map(({ values }) => values['name']);

test('a new shelf begins with what it is given, once; the newest record comes first', () => {
  const memory = new Memory(roomy);
  expect(names(memory, one, ['a', 'b'], true)).toEqual(['b', 'a']);
  memory.add(one, 'roles', record('c'));
  expect(names(memory, one, ['x'])).toEqual(['c', 'b', 'a']);
  expect(names(memory, by('other'))).toEqual([]);
});

test('a shelf that was emptied stays empty', () => {
  const memory = new Memory(roomy);
  for (const kept of memory.records(one, 'roles', () => [record('a')], true)) memory.remove('one', kept);
  expect(names(memory, one, ['a'])).toEqual([]);
});

test('reading keeps nothing', () => {
  const memory = new Memory(roomy);
  for (let count = 0; count < 1000; count += 1) expect(names(memory, by(`t-${count}`), ['a'])).toEqual(['a']);
  expect(memory.size).toBe(0);
});

test('records grow older in the order in which they came, whatever their shelf; what was there first is older', () => {
  const memory = new Memory(roomy);
  const [seed] = memory.records(one, 'roles', () => [record('s')], true);
  const [former, latter] = [memory.add(one, 'roles', record('a')), memory.add(one, 'keys', record('b'))];
  expect(latter.seq).toBeGreaterThan(former.seq);
  expect(seed!.seq).toBeLessThan(former.seq);
});

test('a tenant with too many records loses its own oldest ones', () => {
  const memory = new Memory({ ...roomy, tenant: 3 });
  memory.add(by('other'), 'roles', record('mine'));
  for (const name of ['a', 'b', 'c', 'd', 'e']) memory.add(one, 'roles', record(name));
  expect(names(memory)).toEqual(['e', 'd', 'c']);
  expect(names(memory, by('other'))).toEqual(['mine']);
});

test('what shelves begin with is bounded too', () => {
  const memory = new Memory(roomy);
  for (let count = 0; count < 1000; count += 1) names(memory, by(`t-${count}`), ['a'], true);
  expect(memory.size).toBeLessThanOrEqual(roomy.all);
});

test('one client with many tenants pushes out its own, not those of others', () => {
  const memory = new Memory(roomy);
  memory.add(by('quiet', 'a'), 'roles', record('mine'));
  for (let count = 0; count < 12_000; count += 1) memory.add(by(`noisy-${count}`, 'b'), 'roles', record('x'));
  expect(memory.size).toBeLessThanOrEqual(roomy.all);
  expect(names(memory, by('quiet', 'a'))).toEqual(['mine']);
});

test('of the tenants of one client the one goes that was not used for longest', () => {
  const memory = new Memory({ ...roomy, all: 10, tenant: 5 });
  memory.add(by('used'), 'roles', record('mine'));
  memory.add(by('idle'), 'roles', record('mine'));
  for (let count = 0; count < 50; count += 1) {
    memory.add(by(`t-${count}`), 'roles', record('x'));
    expect(names(memory, by('used'))).toEqual(['mine']);
  }
  expect(names(memory, by('idle'), ['as new'])).toEqual(['as new']);
});

const holding = (size: number) => ({
  ...record('held'),
  content: { bytes: new Uint8Array(size), type: 'text/plain', stored: {} },
});

test('a tenant is refused more content than it may have, and has room again for what it gives up', () => {
  const memory = new Memory(roomy);
  const first = memory.add(one, 'objects', holding(15_000));
  expect(() => memory.add(one, 'objects', holding(6_000))).toThrow('at most 20000 bytes of a tenant');
  const { content } = holding(16_000);
  memory.fill('one', first, content);
  expect(() => memory.add(one, 'objects', holding(5_000))).toThrow('at most 20000 bytes');
  memory.remove('one', first);
  memory.add(one, 'objects', holding(20_000));
});

test('content counts with the records: one client that puts much pushes out its own', () => {
  const memory = new Memory(roomy);
  memory.add(by('quiet', 'a'), 'roles', record('mine'));
  for (let count = 0; count < 200; count += 1) {
    memory.add(by(`noisy-${count}`, 'b'), 'objects', holding(20_000));
    expect(memory.size).toBeLessThanOrEqual(roomy.all);
  }
  expect(names(memory, by('quiet', 'a'))).toEqual(['mine']);
  for (let count = 0; count < 200; count += 1)
    for (const kept of memory.records(by(`noisy-${count}`, 'b'), 'objects', () => [], true))
      memory.remove(`noisy-${count}`, kept);
  expect(memory.size).toBeLessThanOrEqual(roomy.all);
});
