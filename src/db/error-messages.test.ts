import { expect, test } from 'vitest';
import { diskFullInstead, hasFileTrouble } from './error-messages.ts';

function message(type: string, content: string): Buffer {
  const head = Buffer.from([type.charCodeAt(0), 0, 0, 0, 0]);
  head.writeUInt32BE(content.length + 4, 1);
  return Buffer.concat([head, Buffer.from(content, 'latin1')]);
}
const error = (code: string) =>
  message('E', `SERROR\0VERROR\0C${code}\0Mcannot execute INSERT in a read-only transaction\0\0`);

test('what is refused as read-only is refused for the full disk; other errors and rows stay', () => {
  const row = message('D', '\0\x01\0\0\0\x06C25006\0\0');
  const others = [message('1', ''), row, error('23505'), message('Z', 'I')];
  expect(diskFullInstead(Buffer.concat([...others, error('25006')]))).toEqual(
    Buffer.concat([...others, error('53100')]),
  );
  expect(diskFullInstead(Buffer.concat(others))).toEqual(Buffer.concat(others));
});

test('an error about a file is seen among other messages, and text that looks like one is not', () => {
  const row = message('D', '\0\x01\0\0\0\x06C58P02\0\0');
  expect(hasFileTrouble(Buffer.concat([row, error('42P01')]))).toBe(false);
  expect(hasFileTrouble(Buffer.concat([row, error('58P02'), message('Z', 'I')]))).toBe(true);
});
