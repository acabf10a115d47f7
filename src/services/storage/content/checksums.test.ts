import { crc32c } from '@node-rs/crc32';
import fc from 'fast-check';
import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { blockSize } from './block-sums.ts';
import { contentHasher, parseChecksums, verifyChecksums } from './checksums.ts';
import { crc32cCombine, crcCombiner, crcHex } from './crc-combination.ts';
import { etagOf, multipartEtag, sha256Of } from './entity-tag.ts';

const abc = {
  sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  crc32c: '364b3fb7',
  md5: '900150983cd24fb0d6963f7d28e17f72',
};
const digestsOf = (...chunks: (string | Uint8Array)[]) => {
  const hasher = contentHasher({ md5: '' });
  for (const chunk of chunks) hasher.update(Buffer.from(chunk));
  const { blocks: _, ...digests } = hasher.digest();
  return digests;
};

describe('an X-Store-Checksum header', () => {
  test.each([
    [undefined, {}],
    [`sha256:${abc.sha256}`, { sha256: abc.sha256 }],
    [abc.sha256, { sha256: abc.sha256 }],
    [abc.sha256.toUpperCase(), { sha256: abc.sha256 }],
    ['crc32c:364B3FB7', { crc32c: '364b3fb7' }],
    [`md5:${abc.md5} ,\tcrc32c:364b3fb7, sha256:${abc.sha256}`, abc],
  ])('%s', (header, expected) => expect(parseChecksums(header)).toEqual(expected));

  const form = 'must be sha256, crc32c or md5, a colon, and 64, 8 or 32 hexadecimal digits';
  test.each([
    ['', form],
    ['abc', form],
    ['364b3fb7', form],
    ['sha256:', form],
    [`sha256:${abc.sha256}0`, form],
    ['crc32c:364b3fbg', form],
    ['sha1:364b3fb7', form],
    ['CRC32C:364b3fb7', form],
    ['crc32c:364b3fb7,', form],
    ['crc32c:364b3fb7,crc32c:364b3fb7', 'crc32c is given twice'],
    [`${abc.sha256},sha256:${abc.sha256}`, 'sha256 is given twice'],
    [','.repeat(1000), 'at most 3 values'],
  ])('refused: %.40s', (header, problem) =>
    expect(() => parseChecksums(header)).toThrow(`invalid checksum header: ${problem}`),
  );
});

describe('the checksums of content', () => {
  test.each([
    [
      '',
      {
        size: 0,
        sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
        crc32c: '00000000',
        md5: 'd41d8cd98f00b204e9800998ecf8427e',
      },
    ],
    ['abc', { size: 3, ...abc }],
  ])('%j', (content, digests) => expect(digestsOf(content)).toEqual(digests));

  test('the CRC32C of its own test vector', () => expect(digestsOf('123456789').crc32c).toBe('e3069283'));

  test('MD5 only on demand', () => expect(contentHasher({ crc32c: '' }).digest()).not.toHaveProperty('md5'));

  test('do not depend on the chunks', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 6 }), (chunks) => {
        const whole = Buffer.concat(chunks);
        expect(digestsOf(...chunks)).toEqual({
          size: whole.length,
          sha256: createHash('sha256').update(whole).digest('hex'),
          crc32c: crcHex(crc32c(whole)),
          md5: createHash('md5').update(whole).digest('hex'),
        });
      }),
    );
  });

  test.each([0, 1, blockSize - 1, blockSize, blockSize + 1, 2 * blockSize, 2 * blockSize + 13])(
    'of %d bytes have a CRC32C for each block, and that of the whole',
    (size) => {
      const content = randomBytes(size);
      const hasher = contentHasher();
      for (let from = 0; from < size; from += 65_000) hasher.update(content.subarray(from, from + 65_000));
      const { blocks, crc32c: whole } = hasher.digest();
      const sums = Array.from({ length: blocks.length / 4 }, (_, block) => blocks.readUInt32BE(block * 4));
      const starts = Array.from({ length: Math.ceil(size / blockSize) }, (_, block) => block * blockSize);
      expect(sums).toEqual(starts.map((start) => crc32c(content.subarray(start, start + blockSize))));
      expect(whole).toBe(crcHex(crc32c(content)));
    },
  );

  test.each(['sha256', 'crc32c', 'md5'] as const)('a wrong %s is named', (algorithm) => {
    const wrong = '0'.repeat(abc[algorithm].length);
    expect(() => verifyChecksums({ ...abc, [algorithm]: wrong }, abc)).toThrow(
      `checksum mismatch: ${algorithm} expected ${wrong} got ${abc[algorithm]}`,
    );
    expect(() => verifyChecksums(abc, abc)).not.toThrow();
    expect(() => verifyChecksums({}, abc)).not.toThrow();
  });
});

describe('combined CRCs', () => {
  test('abc and def', () => expect(crc32cCombine('364b3fb7', '4248d48a', 3)).toBe('53bceff1'));

  test('are those of the contents together', () => {
    const content = fc.uint8Array({ maxLength: 2000 });
    fc.assert(
      fc.property(fc.array(content, { maxLength: 5 }), (parts) => {
        const combine = crcCombiner();
        const combined = parts.reduce(
          (crc, part) => combine(crc, digestsOf(part).crc32c, part.length),
          '00000000',
        );
        expect(combined).toBe(digestsOf(...parts).crc32c);
      }),
    );
  });

  test('are associative for every length, also beyond 32 bits', () => {
    const crc = fc.integer({ min: 0, max: 0xffffffff }).map(crcHex);
    const length = fc.oneof(fc.nat(70_000), fc.integer({ min: 0, max: 5 * 2 ** 40 }));
    fc.assert(
      fc.property(crc, crc, crc, length, length, (a, b, c, lengthB, lengthC) => {
        const left = crc32cCombine(crc32cCombine(a, b, lengthB), c, lengthC);
        expect(left).toBe(crc32cCombine(a, crc32cCombine(b, c, lengthC), lengthB + lengthC));
      }),
    );
  });

  test('of content of a megabyte after another', () => {
    const [a, b] = [Buffer.alloc(1 << 20, 7), Buffer.alloc((1 << 20) + 13, 99)];
    expect(crc32cCombine(crcHex(crc32c(a)), crcHex(crc32c(b)), b.length)).toBe(
      crcHex(crc32c(Buffer.concat([a, b]))),
    );
  });
});

describe('entity tags', () => {
  test('of content in one piece', () => {
    expect(etagOf(abc.sha256)).toBe(`"${abc.sha256}"`);
    expect(sha256Of(etagOf(abc.sha256))).toBe(abc.sha256);
  });

  test('of content in parts', () =>
    expect(multipartEtag([abc.sha256, digestsOf('def').sha256])).toBe(
      '"9c04d30057b754af1b2d2d4f5675782dd61a5a659c34ee6c2af47526b66cafa6-2"',
    ));
});
