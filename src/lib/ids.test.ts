import { expect, test } from 'vitest';
import { idTime, isId, newId } from './ids.ts';

test('an id carries its prefix and the millisecond in which it was made', () => {
  const before = Date.now();
  const id = newId('role');
  expect(id).toMatch(/^role_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
  expect(idTime(id)).toBeGreaterThanOrEqual(before);
  expect(idTime(id)).toBeLessThanOrEqual(Date.now());
  expect(idTime('role_01h455vb4pex5vsknk084sn02q')).toBe(0x01890a5dac96);
});

test('an id can carry another millisecond', () => {
  const ids = [0, 1, 0x01890a5dac96, 2 ** 48 - 1].map((at) => newId('key', at + 0.5));
  expect(ids.map(idTime)).toEqual([0, 1, 0x01890a5dac96, 2 ** 48 - 1]);
  expect(ids.every((id) => isId(id, 'key'))).toBe(true);
  expect(ids.map((id) => id.slice('key_'.length))).toEqual(ids.map((id) => id.slice('key_'.length)).sort());
  expect(new Set(Array.from({ length: 1000 }, () => newId('key', 1))).size).toBe(1000);
});

test('ids are different', () => {
  expect(new Set(Array.from({ length: 1000 }, () => newId('key'))).size).toBe(1000);
});

test.each([
  ['role_01h455vb4pex5vsknk084sn02q', true],
  ['roles_01h455vb4pex5vsknk084sn02q', false],
  ['role_01H455VB4PEX5VSKNK084SN02Q', false],
  ['role_01h455vb4pex5vsknk084sn02', false],
  ['role_81h455vb4pex5vsknk084sn02q', false],
  ['01h455vb4pex5vsknk084sn02q', false],
  ['role_', false],
  ['', false],
])('%s is a role id: %s', (text, expected) => {
  expect(isId(text, 'role')).toBe(expected);
});

/** What the specification of TypeIDs publishes. */
test.each([
  ['prefix_0123456789abcdefghjkmnpqrs', 'prefix'],
  ['prefix_01h455vb4pex5vsknk084sn02q', 'prefix'],
  ['prefix_7zzzzzzzzzzzzzzzzzzzzzzzzz', 'prefix'],
  ['pre_fix_00000000000000000000000000', 'pre_fix'],
])('%s is valid', (text, prefix) => {
  expect(isId(text, prefix)).toBe(true);
});

test.each([
  ['PREFIX_00000000000000000000000000', 'PREFIX'],
  ['12345_00000000000000000000000000', '12345'],
  ['pre.fix_00000000000000000000000000', 'pre.fix'],
  ['préfix_00000000000000000000000000', 'préfix'],
  ['  prefix_00000000000000000000000000', '  prefix'],
  [`${'abcdefghijkl'.repeat(5)}abcd_00000000000000000000000000`, `${'abcdefghijkl'.repeat(5)}abcd`],
  ['_00000000000000000000000000', ''],
  ['_', ''],
  ['prefix_1234567890123456789012345', 'prefix'],
  ['prefix_123456789012345678901234567', 'prefix'],
  ['prefix_1234567890123456789012345 ', 'prefix'],
  ['prefix_0123456789ABCDEFGHJKMNPQRS', 'prefix'],
  ['prefix_123456789-123456789-123456', 'prefix'],
  ['prefix_ooooooiiiiiiuuuuuuulllllll', 'prefix'],
  ['prefix_i23456789ol23456789oi23456', 'prefix'],
  ['prefix_123456789-0123456789-0123456', 'prefix'],
  ['prefix_8zzzzzzzzzzzzzzzzzzzzzzzzz', 'prefix'],
  ['_prefix_00000000000000000000000000', '_prefix'],
  ['prefix__00000000000000000000000000', 'prefix_'],
])('%s is invalid', (text, prefix) => {
  expect(isId(text, prefix)).toBe(false);
});

test('what is no id has no time', () => {
  expect(() => idTime('role_nothing')).toThrow(TypeError);
});
