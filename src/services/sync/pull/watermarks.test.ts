import { expect, test } from 'vitest';
import { isStale, positionOf, positionOfText, watermarkOf, watermarkText } from './watermarks.ts';

const epoch = '5f3c9a1e';
const at = (timestamp: number, node_id: string) => ({ timestamp, counter: 3, node_id });
const stamp = (timestamp: number) => (BigInt(timestamp) << 16n) | 3n;
const life = { clock: stamp(100), epoch, horizon: stamp(50) };

test.each([
  [at(0, 'x'), { stamp: 3n }],
  [{ timestamp: 0, counter: 0, node_id: 'x' }, { stamp: 0n }],
  [at(7, 'phone-1'), { stamp: stamp(7) }],
  [at(7, '@clock'), { stamp: stamp(7) }],
  [at(7, `@${epoch}`), { stamp: stamp(7), epoch }],
  [at(7, `@${epoch}:0000000000070001`), { stamp: stamp(7), epoch, start: 0x70001n }],
])('since is a position, case %#', (since, position) => {
  expect(positionOf(since, 'Since')).toEqual(position);
});

test.each(['@', '@x', `@${epoch}:`, `@${epoch}:1`, `@${epoch}0`, '@CLOCK', `@${epoch.toUpperCase()}`])(
  'a reading of %s is none that the server gave',
  (name) => {
    expect(() => positionOf(at(7, name), 'since')).toThrow('since: not a reading that this server gave');
  },
);

test('a watermark is the reading of its position', () => {
  for (const position of [
    { stamp: stamp(7), epoch },
    { stamp: stamp(7), epoch, start: stamp(9) },
    { stamp: 2n ** 63n - 1n, epoch, start: 2n ** 63n - 1n },
  ]) {
    expect(positionOf(watermarkOf(position), '')).toEqual(position);
    expect(positionOfText(watermarkText(position), '')).toEqual(position);
  }
  expect(watermarkOf({ stamp: 0n })).toEqual({ timestamp: 0, counter: 0, node_id: '' });
});

test.each([
  ['the beginning', { stamp: 0n }, false],
  ['a time after the horizon', { stamp: stamp(50) }, false],
  ['a time before the horizon', { stamp: stamp(49) }, true],
  ['a time that has not come', { stamp: stamp(101) }, false],
  ['a watermark at the horizon', { stamp: stamp(50), epoch }, false],
  ['a watermark before the horizon', { stamp: stamp(49), epoch }, true],
  ['a watermark beyond the clock', { stamp: stamp(101), epoch }, true],
  ['a watermark of another life', { stamp: stamp(70), epoch: '00000000' }, true],
  ['a first pull that began after the horizon', { stamp: stamp(1), epoch, start: stamp(50) }, false],
  ['a first pull that began before the horizon', { stamp: stamp(60), epoch, start: stamp(49) }, true],
  ['a first pull that began beyond the clock', { stamp: stamp(60), epoch, start: stamp(101) }, true],
])('%s', (_, position, expected) => {
  expect(isStale(position, life)).toBe(expected);
});

test('before the first push, only a watermark is stale', () => {
  expect(isStale({ stamp: stamp(7) }, undefined)).toBe(false);
  expect(isStale({ stamp: stamp(7), epoch }, undefined)).toBe(true);
});
