import { expect, it } from 'vitest';
import { joined } from './contents.ts';
import { crc32c } from './crc32c.ts';

it.each([
  ['', '00000000'],
  ['abc', '364b3fb7'],
  ['123456789', 'e3069283'],
])('the CRC32C of "%s" is %s', (text, digits) => expect(crc32c(Buffer.from(text))).toBe(digits));

it('a content in parts has the tag and the checksum of the contract', () => {
  const part = (text: string) => ({ bytes: Buffer.from(text), type: 'text/plain', stored: {} });
  const { content, told } = joined([part('abc'), part('def')], 'text/plain');
  expect(Buffer.from(content.bytes).toString()).toBe('abcdef');
  expect(told).toMatchObject({
    size: 6,
    etag: '"9c04d30057b754af1b2d2d4f5675782dd61a5a659c34ee6c2af47526b66cafa6-2"',
    checksum: 'crc32c:53bceff1',
  });
});
