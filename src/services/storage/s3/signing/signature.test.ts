import fc from 'fast-check';
import { expect, test } from 'vitest';
import { queryPairs, uriDecode } from '../protocol/encoding.ts';
import { S3Error } from '../protocol/errors.ts';
import { claimOf, payloads } from './authorization.ts';
import { canonicalRequest, signature, signingKey, stringToSign } from './canonical.ts';
import { checkTime, verify } from './signature.ts';

/** The credential and the time of the examples in the documentation of S3. */
const accessKeyId = 'AKIAIOSFODNN7EXAMPLE';
const secret = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const time = '20130524T000000Z';
const now = Date.UTC(2013, 4, 24);
const emptyHash = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

interface Example {
  method: string;
  url: string;
  headers: Record<string, string>;
}

/** A request as Node presents it. */
function requestOf({ method, url, headers }: Example) {
  const [path = '', query = ''] = url.split('?');
  return {
    method,
    path: uriDecode(path),
    query: queryPairs(query),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    rawHeaders: Object.entries(headers).flat(),
  };
}

const signedBy = (names: string, right: string) =>
  `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20130524/us-east-1/s3/aws4_request,SignedHeaders=${names},Signature=${right}`;

const codeOf = (work: () => unknown): string => {
  try {
    work();
    return 'fine';
  } catch (error) {
    return error instanceof S3Error ? error.code : String(error);
  }
};

const examples: (Example & { name: string })[] = [
  {
    name: 'get object',
    method: 'GET',
    url: '/test.txt',
    headers: {
      Host: 'examplebucket.s3.amazonaws.com',
      Range: 'bytes=0-9',
      'x-amz-content-sha256': emptyHash,
      'x-amz-date': time,
      Authorization: signedBy(
        'host;range;x-amz-content-sha256;x-amz-date',
        'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
      ),
    },
  },
  {
    name: 'put object',
    method: 'PUT',
    url: '/test$file.text',
    headers: {
      Host: 'examplebucket.s3.amazonaws.com',
      Date: 'Fri, 24 May 2013 00:00:00 GMT',
      'x-amz-date': time,
      'x-amz-storage-class': 'REDUCED_REDUNDANCY',
      'x-amz-content-sha256': '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
      Authorization: signedBy(
        'date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class',
        '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
      ),
    },
  },
  {
    name: 'get bucket lifecycle',
    method: 'GET',
    url: '/?lifecycle',
    headers: {
      Host: 'examplebucket.s3.amazonaws.com',
      'x-amz-date': time,
      'x-amz-content-sha256': emptyHash,
      Authorization: signedBy(
        'host;x-amz-content-sha256;x-amz-date',
        'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
      ),
    },
  },
  {
    name: 'list objects',
    method: 'GET',
    url: '/?max-keys=2&prefix=J',
    headers: {
      Host: 'examplebucket.s3.amazonaws.com',
      'x-amz-date': time,
      'x-amz-content-sha256': emptyHash,
      Authorization: signedBy(
        'host;x-amz-content-sha256;x-amz-date',
        '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
      ),
    },
  },
  {
    name: 'signed URL',
    method: 'GET',
    url: `/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${accessKeyId}%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=${time}&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404`,
    headers: { Host: 'examplebucket.s3.amazonaws.com' },
  },
];

for (const { name, ...example } of examples) {
  test(`verifies the documented example: ${name}`, () => {
    const request = requestOf(example);
    const claim = claimOf(request);
    checkTime(claim, now);
    expect(verify(claim, request, secret).seed).toBe(claim.signature);
  });

  test(`refuses the documented example with anything changed: ${name}`, () => {
    const changes: Example[] = [
      { ...example, method: example.method === 'GET' ? 'DELETE' : 'GET' },
      { ...example, url: example.url.replace('/', '/other') },
      { ...example, url: `${example.url}${example.url.includes('?') ? '&' : '?'}acl=` },
      { ...example, headers: { ...example.headers, Host: 'other.s3.amazonaws.com' } },
    ];
    for (const change of changes) {
      const request = requestOf(change);
      expect(codeOf(() => verify(claimOf(request), request, secret))).toBe('SignatureDoesNotMatch');
    }
    const request = requestOf(example);
    expect(codeOf(() => verify(claimOf(request), request, `${secret}x`))).toBe('SignatureDoesNotMatch');
  });
}

test('a header that changes the meaning of a request must be signed', () => {
  const [example] = examples;
  const request = requestOf({
    ...example!,
    headers: { ...example!.headers, 'X-Amz-Copy-Source': '/other/secret' },
  });
  expect(codeOf(() => verify(claimOf(request), request, secret))).toBe('AccessDenied');
});

/** Signs as a client does. */
function signed(example: Example, signedHeaders: string[], payload: string): Example {
  const request = requestOf(example);
  const scope = { date: '20130524', region: 'eu-1' };
  const text = stringToSign(time, scope, { ...request, signedHeaders, payload });
  const right = signature(signingKey(secret, scope), text);
  return {
    ...example,
    headers: {
      ...example.headers,
      Authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20130524/eu-1/s3/aws4_request, SignedHeaders=${signedHeaders.join(';')}, Signature=${right}`,
    },
  };
}

test('however a client encodes a path and a query, its signature is verified', () => {
  const segment = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 4 }), segment, (segments, value) => {
      const path = `/${segments.map(encodeURIComponent).join('/')}`;
      const headers = {
        host: 'h',
        'x-amz-date': time,
        'x-amz-content-sha256': payloads.unsigned,
      };
      const example = { method: 'GET', url: `${path}?prefix=${encodeURIComponent(value)}&a`, headers };
      const names = ['host', 'x-amz-content-sha256', 'x-amz-date'];
      const request = requestOf(signed(example, names, payloads.unsigned));
      expect(verify(claimOf(request), request, secret).scope.region).toBe('eu-1');
    }),
  );
});

test('repeated headers are joined, and runs of spaces are one', () => {
  const text = canonicalRequest({
    method: 'GET',
    path: '/a b',
    query: [],
    rawHeaders: ['Host', 'h', 'X-Amz-Meta-A', '  a   b ', 'x-amz-meta-a', 'c'],
    signedHeaders: ['host', 'x-amz-meta-a'],
    payload: 'p',
  });
  expect(text).toBe('GET\n/a%20b\n\nhost:h\nx-amz-meta-a:a b,c\n\nhost;x-amz-meta-a\np');
});

const claimAt = (at: string, expiresIn?: number) => ({
  accessKeyId,
  scope: { date: at.slice(0, 8), region: 'eu-1' },
  time: at,
  expiresIn,
  signedHeaders: ['host'],
  signature: '',
  payload: payloads.unsigned,
});

test.each([
  ['20130523T234500Z', undefined, 'fine'],
  ['20130523T234459Z', undefined, 'RequestTimeTooSkewed'],
  ['20130524T001500Z', undefined, 'fine'],
  ['20130524T001501Z', undefined, 'RequestTimeTooSkewed'],
  ['20130524T001501Z', 60, 'RequestTimeTooSkewed'],
  ['20130523T235900Z', 61, 'fine'],
  ['20130523T235900Z', 60, 'AccessDenied'],
  ['20130517T000001Z', 604_800, 'fine'],
  ['20139924T000000Z', undefined, 'AccessDenied'],
  ['yesterday', undefined, 'AccessDenied'],
])('a signature of %s with the expiry %s is %s', (at, expiresIn, expected) => {
  expect(codeOf(() => checkTime(claimAt(at, expiresIn), now))).toBe(expected);
});

test('the date of the key must be that of the signature', () => {
  const claim = { ...claimAt(time), scope: { date: '20130523', region: 'eu-1' } };
  expect(codeOf(() => checkTime(claim, now))).toBe('SignatureDoesNotMatch');
});

const good = signedBy('host', 'a'.repeat(64));
const presigned = examples[4]!.url.split('?')[1]!;

test.each<[string, Record<string, string>, string, string]>([
  ['nothing', {}, '', 'AccessDenied'],
  ['a password', { authorization: 'Basic abc' }, '', 'InvalidRequest'],
  ['an old signature', { authorization: 'AWS id:signature' }, '', 'InvalidRequest'],
  ['an old signed URL', {}, 'AWSAccessKeyId=a&Signature=b&Expires=1', 'InvalidRequest'],
  ['no hash of the content', { authorization: good }, '', 'MissingSecurityHeader'],
  ['no time', { authorization: good, 'x-amz-content-sha256': emptyHash }, '', 'AccessDenied'],
  [
    'a hash in capitals',
    { authorization: good, 'x-amz-date': time, 'x-amz-content-sha256': emptyHash.toUpperCase() },
    '',
    'InvalidArgument',
  ],
  [
    'an unknown kind of stream',
    {
      authorization: good,
      'x-amz-date': time,
      'x-amz-content-sha256': 'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD',
    },
    '',
    'NotImplemented',
  ],
  [
    'an unsigned host',
    {
      authorization: signedBy('range', 'a'.repeat(64)),
      'x-amz-date': time,
      'x-amz-content-sha256': emptyHash,
    },
    '',
    'AuthorizationHeaderMalformed',
  ],
  [
    'names out of order',
    {
      authorization: signedBy('range;host', 'a'.repeat(64)),
      'x-amz-date': time,
      'x-amz-content-sha256': emptyHash,
    },
    '',
    'AuthorizationHeaderMalformed',
  ],
  [
    'another service',
    { authorization: good.replace('/s3/', '/sts/'), 'x-amz-content-sha256': emptyHash },
    '',
    'AuthorizationHeaderMalformed',
  ],
  ['a short signature', { authorization: signedBy('host', 'abc') }, '', 'AuthorizationHeaderMalformed'],
  ['two signatures', { authorization: good }, presigned, 'InvalidArgument'],
  [
    'an expiry of more than a week',
    {},
    presigned.replace('86400', '604801'),
    'AuthorizationQueryParametersError',
  ],
  ['an expiry of nothing', {}, presigned.replace('86400', '0'), 'AuthorizationQueryParametersError'],
  ['two expiries', {}, `${presigned}&X-Amz-Expires=1`, 'AuthorizationQueryParametersError'],
  [
    'no algorithm',
    {},
    presigned.replace('X-Amz-Algorithm', 'X-Amz-Other'),
    'AuthorizationQueryParametersError',
  ],
  ['a broken signature', {}, `${presigned.slice(0, -1)}z`, 'SignatureDoesNotMatch'],
])('refuses %s', (_what, headers, query, expected) => {
  expect(codeOf(() => claimOf({ headers, query: queryPairs(query) }))).toBe(expected);
});
