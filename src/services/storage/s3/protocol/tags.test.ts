import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { meantCondition, meantRangeCondition, shownTag, tagOfParts } from './tags.ts';

const digest = 'a'.repeat(64);
const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const whole = { etag: `"${digest}"`, size: 5, md5: md5('hello'), tag: null };
const native = { ...whole, md5: null };
const inParts = { etag: `"${digest}-2"`, size: 5, md5: null, tag: `${'b'.repeat(32)}-2` };

test.each([
  ['the MD5, where it is known', whole, `"${md5('hello')}"`],
  ['the MD5 of nothing', { ...native, size: 0 }, `"${md5('')}"`],
  ['with a dash where the MD5 is not known', native, `"${digest}-1"`],
  ['that of the parts', inParts, `"${'b'.repeat(32)}-2"`],
  ['the real one of parts that arrived otherwise', { ...inParts, tag: null }, `"${digest}-2"`],
])('a tag is %s', (_what, tagged, expected) => {
  expect(shownTag(tagged)).toBe(expected);
});

test('the tag of parts is the one that S3 computes', () => {
  const parts = [md5('a'), md5('b')];
  const expected = createHash('md5')
    .update(Buffer.from(parts.join(''), 'hex'))
    .digest('hex');
  expect(tagOfParts(parts)).toBe(`${expected}-2`);
});

test('in a condition the shown tag means the real one, and no other one does', () => {
  for (const tagged of [whole, native, inParts]) {
    const shown = shownTag(tagged);
    expect(meantCondition(shown, tagged)).toBe(tagged.etag);
    expect(meantCondition(shown.replaceAll('"', ''), tagged)).toBe(tagged.etag);
    expect(meantCondition(`W/${shown} , "x"`, tagged)).toBe(`W/${tagged.etag}, "x"`);
    expect(meantRangeCondition(shown, tagged)).toBe(tagged.etag);
    expect(meantCondition('"other"', tagged)).toBe('"other"');
  }
  expect(meantCondition('*', whole)).toBe('*');
  expect(meantCondition(undefined, whole)).toBeUndefined();
  expect(meantCondition('"other"', undefined)).toBe('"other"');
  expect(meantRangeCondition('Fri, 20 Nov 2026 09:46:41 GMT', whole)).toBe('Fri, 20 Nov 2026 09:46:41 GMT');
});
