import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodedKey, encodedQuery, isSignedLink, linkKey, signedText, signLink } from './link-signature.ts';

const secret = Buffer.from(Array.from({ length: 32 }, (_, index) => index));
const key = linkKey(secret, 'acme', 'bkt_01m7w6j6r2f6ct0pas1edd8vfz');
const report = {
  method: 'GET',
  key: '2026/März report.pdf',
  parameters: {
    store_tenant: 'acme',
    store_subject: 'user:user_01m7w6j6r3f6ct0pbzfv676raz',
    store_kid: 'k1',
    store_expires: '1795000000',
  },
};
const signature = 'b7ca3ba242b895c96d87c890358793925f4d2eea9baf1aa241ef4eb5b9250d30';

describe('the signature of a link', () => {
  test('has a key of the tenant and the bucket', () =>
    expect(key.toString('hex')).toBe('0d0940e323b8ad3d4c03a3c8e24e61764c0c142a1725101fd39e2876640ae3b4'));

  test('covers the method, the key and the parameters by name', () =>
    expect(signedText(report)).toBe(
      [
        'GET',
        '2026/M%C3%A4rz%20report.pdf',
        'store_expires=1795000000&store_kid=k1&store_subject=user%3Auser_01m7w6j6r3f6ct0pbzfv676raz&store_tenant=acme',
      ].join('\n'),
    ));

  test('is the documented one', () => expect(signLink(key, report)).toBe(signature));

  test('also serves HEAD', () =>
    expect(isSignedLink(key, { ...report, method: 'HEAD' }, signature)).toBe(true));

  test.each([
    ['another method', key, { ...report, method: 'PUT' }],
    ['another key', key, { ...report, key: '2026/März report.pdf2' }],
    ['an added parameter', key, { ...report, parameters: { ...report.parameters, store_max_bytes: '1' } }],
    ['a changed parameter', key, { ...report, parameters: { ...report.parameters, store_kid: 'k2' } }],
    ['another tenant', linkKey(secret, 'acme2', 'bkt_01m7w6j6r2f6ct0pas1edd8vfz'), report],
    ['another bucket', linkKey(secret, 'acme', 'bkt_01m7w6j6r2f6ct0pas1edd8vfy'), report],
    ['another secret', linkKey(secret.subarray(1), 'acme', 'bkt_01m7w6j6r2f6ct0pas1edd8vfz'), report],
  ])('is wrong for %s', (_, otherKey, request) =>
    expect(isSignedLink(otherKey, request, signature)).toBe(false),
  );

  test.each([
    '',
    signature.slice(1),
    signature.toUpperCase(),
    `${signature}0`,
    'z'.repeat(64),
    'ä'.repeat(64),
  ])('is not %j', (other) => expect(isSignedLink(key, report, other)).toBe(false));

  test('changes with every digit', () => {
    for (let at = 0; at < signature.length; at++) {
      const digit = signature[at] === '0' ? '1' : '0';
      const other = signature.slice(0, at) + digit + signature.slice(at + 1);
      expect(isSignedLink(key, report, other)).toBe(false);
    }
  });

  test('two requests with one text are one request', () => {
    const parameters = fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 });
    const request = fc.record({ method: fc.constant('GET'), key: fc.string(), parameters });
    fc.assert(
      fc.property(request, request, (a, b) => {
        const same = JSON.stringify([a.key, Object.entries(a.parameters).sort()]);
        fc.pre(same !== JSON.stringify([b.key, Object.entries(b.parameters).sort()]));
        expect(signedText(a)).not.toBe(signedText(b));
      }),
    );
  });
});

test('keys and parameters are encoded as RFC 3986 says', () => {
  expect(encodedKey("a b/ä+(1)*'!~.-_")).toBe('a%20b/%C3%A4%2B%281%29%2A%27%21~.-_');
  expect(encodedQuery({ b: '&', a: '/?' })).toBe('a=%2F%3F&b=%26');
});
