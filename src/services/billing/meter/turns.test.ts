import { expect, test } from 'vitest';
import { createTurns } from './turns.ts';

/** Work that begins and ends when the test says so. */
function worker(most: number) {
  const turns = createTurns(most);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const take = (tenant: string, name: string, weight: number) =>
    turns.take(tenant, weight, () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    });
  const end = async (name: string) => {
    ends.get(name)!();
    // What waited begins in the microtasks that follow.
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { turns, begun, take, end };
}

test('a tenant has as much under way as fits, in its order, whatever others have', async () => {
  const { begun, take, end } = worker(10);
  for (const [name, weight] of Object.entries({ a1: 4, a2: 6, a3: 1, a4: 9, a5: 1 }))
    void take('a', name, weight);
  void take('b', 'b1', 10);
  expect(begun).toEqual(['a1', 'a2', 'b1']);
  await end('a1');
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3']);
  await end('a2');
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'a4']);
  await end('a3');
  expect(begun.at(-1)).toBe('a5');
});

test('work that weighs too much has a turn alone', async () => {
  const { begun, take, end } = worker(10);
  for (const name of ['a1', 'a2']) void take('a', name, 50);
  expect(begun).toEqual(['a1']);
  await end('a1');
  expect(begun).toEqual(['a1', 'a2']);
});

test('work that fails gives its turn back, and nothing is kept of a tenant that has none', async () => {
  const { turns, begun, take, end } = worker(1);
  await expect(turns.take('a', 1, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await turns.idle();
  void take('a', 'a1', 1);
  void take('a', 'a2', 1);
  let isIdle = false;
  const idle = turns.idle().then(() => (isIdle = true));
  await end('a1');
  expect([begun, isIdle]).toEqual([['a1', 'a2'], false]);
  await end('a2');
  await idle;
});
