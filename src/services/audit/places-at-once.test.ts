import { expect, it } from 'vitest';
import { createPlaces } from './places-at-once.ts';

it('one tenant leaves a place to the others, and a place is free again when its work ends or fails', async () => {
  const places = createPlaces(2, () => new Error('full'));
  const held = Promise.withResolvers<string>();
  const first = places.take('greedy', () => held.promise);
  await expect(places.take('greedy', async () => 'second')).rejects.toThrow('full');
  expect(await places.take('modest', async () => 'served')).toBe('served');
  const other = Promise.withResolvers<string>();
  const second = places.take('modest', () => other.promise);
  await expect(places.take('third', async () => 'third')).rejects.toThrow('full');
  other.reject(new Error('failed'));
  await expect(second).rejects.toThrow('failed');
  expect(await places.take('third', async () => 'third')).toBe('third');
  held.resolve('first');
  expect(await first).toBe('first');
  expect(await places.take('greedy', async () => 'again')).toBe('again');
});
