import { expect, test } from 'vitest';
import { ended, newEntry, settled } from './model-entry.ts';

test('changes wait for decisions under way, each of them, but not for ever', async () => {
  const entry = newEntry('t');
  await settled(entry);
  const [first, second] = [{}, {}];
  entry.paused.add(first).add(second);
  const order: string[] = [];
  const waiting = settled(entry).then(() => order.push('settled'));
  ended(entry, first);
  await Promise.resolve();
  order.push('first');
  ended(entry, second);
  await waiting;
  expect(order).toEqual(['first', 'settled']);

  entry.paused.add(first);
  await settled(entry);
  expect([entry.paused.size, entry.waiting.size]).toEqual([1, 0]);
});
