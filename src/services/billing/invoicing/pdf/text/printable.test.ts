import { expect, test } from 'vitest';
import { printable } from './printable.ts';

test.each([
  ['a\u0000b\nc\td\u007fe', 'a b c d e'],
  ['\ud800 lone', '\ufffd lone'],
  ['not\u202Elaer', 'notlaer'],
  ['u\u0308ber', 'über'],
  ['  two   blanks ', 'two blanks'],
  ['می\u200cخواهم', 'می\u200cخواهم'],
  ['', ''],
])('%j is printed as %j', (text, line) => {
  expect(printable(text)).toBe(line);
});
