import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { create } from 'fontkit';
import { expect, test } from 'vitest';
import { isWoff, unpacked } from './woff.ts';

const path = createRequire(import.meta.url).resolve(
  '@fontsource/noto-sans/files/noto-sans-greek-400-normal.woff',
);
const file = readFileSync(path);

test('an unpacked font is the font that was packed', () => {
  expect(isWoff(file)).toBe(true);
  const font = unpacked(file);
  expect(isWoff(font)).toBe(false);
  expect(create(font).characterSet).toEqual(create(file).characterSet);
  expect(create(font).postscriptName).toBe('NotoSans-Regular');
});

test('a damaged file is refused, whatever its lengths claim', () => {
  expect(() => unpacked(file.subarray(0, 500))).toThrow(RangeError);
  const boastful = Buffer.from(file);
  boastful.writeUInt32BE(0xffffffff, 44 + 12);
  expect(() => unpacked(boastful)).toThrow('the font file is damaged');
});
