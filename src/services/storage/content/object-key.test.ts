import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkKey, checkKeyBytes, keyFromPath } from './object-key.ts';
import { percentEncoded } from './http-headers.ts';

const refusal = (run: () => unknown): string => {
  try {
    return `accepted ${JSON.stringify(run())}`;
  } catch (error) {
    return (error as Error).message;
  }
};
const keyAt = (rest: string) => keyFromPath(`/store/v1/buckets/photos/objects/${rest}`);

describe('a key is cut from the raw path and decoded once', () => {
  test.each([
    ['cat.jpg', 'cat.jpg'],
    ['2026/cat.jpg', '2026/cat.jpg'],
    ['2026%2Fcat.jpg', '2026/cat.jpg'],
    ['2026%2fcat.jpg', '2026/cat.jpg'],
    ['folder/', 'folder/'],
    ['a+b', 'a+b'],
    ['a%2Bb', 'a+b'],
    ['100%25', '100%'],
    ['%2525', '%25'],
    ['a%23b%3Fc', 'a#b?c'],
    ['a%20b', 'a b'],
    ['M%C3%A4rz', 'März'],
    ['e%CC%81', 'e\u0301'],
    ['%C3%A9', '\u00e9'],
    ['%EF%BB%BFa', '\ufeffa'],
    ['%F0%9F%90%88', '🐈'],
    ['\u00c3\u00a4', 'ä'],
    ['a?download=b', 'a'],
    ['.hidden', '.hidden'],
    ['...', '...'],
    ['a/..b/c..', 'a/..b/c..'],
    ['buckets/b/objects/c', 'buckets/b/objects/c'],
    ["a;b=c,d:e@f!$&'()*~", "a;b=c,d:e@f!$&'()*~"],
  ])('%s', (rest, key) => expect(keyAt(rest)).toBe(key));

  test.each([
    ['/files/store/buckets/b/objects/x', 'x'],
    ['/buckets/objects/objects/x', 'x'],
    ['/%62uckets/b/%6Fbjects/x', 'x'],
    ['http://a.test/store/v1/buckets/b/objects/x?y', 'x'],
    ['/objects/v1/buckets/b/objects/x', 'x'],
  ])('whatever comes before the bucket: %s', (url, key) => expect(keyFromPath(url)).toBe(key));

  test.each(['', '?prefix=a'])('without a key: objects/%s', (rest) =>
    expect(refusal(() => keyAt(rest))).toBe('object key is required'),
  );
  test.each(['/store/v1/buckets/photos/objects', '/store/v1/buckets/photos', '/'])(
    'without a key: %s',
    (url) => expect(refusal(() => keyFromPath(url))).toBe('object key is required'),
  );

  test.each([
    ['%', 'malformed percent-encoding'],
    ['a%2', 'malformed percent-encoding'],
    ['a%zz', 'malformed percent-encoding'],
    ['a%-1', 'malformed percent-encoding'],
    ['%FF', 'must be UTF-8'],
    ['%C3', 'must be UTF-8'],
    ['%C0%AF', 'must be UTF-8'],
    ['%ED%A0%80', 'must be UTF-8'],
    ['\u00e4', 'must be UTF-8'],
    ['ж', 'must be percent-encoded'],
    ['a#b', 'must be percent-encoded'],
    ['a%00', 'must not contain control characters'],
    ['a%0Ab', 'must not contain control characters'],
    ['%7F', 'must not contain control characters'],
    ['%EF%BF%BE', 'must not contain Unicode noncharacters'],
    ['%EF%B7%90', 'must not contain Unicode noncharacters'],
    ['/a', 'must not begin with a slash'],
    ['%2Fa', 'must not begin with a slash'],
    ['a//b', 'empty segment'],
    ['a/%2Fb', 'empty segment'],
    ['a//', 'empty segment'],
    ['.', 'must not contain the segments . and ..'],
    ['..', 'must not contain the segments . and ..'],
    ['%2e%2e', 'must not contain the segments . and ..'],
    ['a/../b', 'must not contain the segments . and ..'],
    ['a/./b', 'must not contain the segments . and ..'],
    ['a/.%2E', 'must not contain the segments . and ..'],
    ['../', 'must not contain the segments . and ..'],
    ['a'.repeat(1025), 'must have at most 1024 bytes'],
    ['%C3%A4'.repeat(513), 'must have at most 1024 bytes'],
  ])('refused: %.40s', (rest, problem) =>
    expect(refusal(() => keyAt(rest))).toBe(`invalid object key: ${problem}`),
  );

  test('every key survives the way through a URL', () => {
    const segment = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 4 }), fc.boolean(), (segments, asWhole) => {
        const key = segments.join('/');
        fc.pre(refusal(() => checkKey(key)).startsWith('accepted'));
        const sent = asWhole ? percentEncoded(key) : key.split('/').map(percentEncoded).join('/');
        expect(keyAt(sent)).toBe(key);
      }),
    );
  });

  test('any bytes give a good key or a refusal', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        const text = Buffer.from(bytes).toString('latin1').replaceAll('?', '');
        const said = refusal(() => keyAt(text));
        expect(said).toMatch(/^(accepted|invalid object key: |object key is required$)/);
      }),
    );
  });
});

describe('a key that arrives as text', () => {
  test.each([
    ['', 'object key is required'],
    ['\ud800', 'invalid object key: must not contain a lone surrogate'],
    ['\u{1ffff}', 'invalid object key: must not contain Unicode noncharacters'],
    ['a//b', 'invalid object key: empty segment'],
    ['ä'.repeat(513), 'invalid object key: must have at most 1024 bytes'],
  ])('refused: %.40s', (key, message) => expect(refusal(() => checkKey(key))).toBe(message));

  test.each(['a', 'ä'.repeat(512), 'a%2F', 'a\\b', '🐈'])('accepted: %.40s', (key) =>
    expect(checkKey(key)).toBe(key),
  );

  test('a prefix is measured in bytes', () => {
    expect(refusal(() => checkKeyBytes('prefix', 'ä'.repeat(512)))).toBe('accepted undefined');
    expect(refusal(() => checkKeyBytes('prefix', 'ä'.repeat(513)))).toBe(
      'prefix: must have at most 1024 bytes',
    );
  });
});
