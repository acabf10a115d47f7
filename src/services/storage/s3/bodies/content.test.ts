import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { S3Error } from '../protocol/errors.ts';
import { payloads } from '../signing/authorization.ts';
import { scopeText, sha256Hex, signature, signingKey } from '../signing/canonical.ts';
import type { Verified } from '../signing/signature.ts';
import { algorithms } from './checksums.ts';
import { contentOf } from './content.ts';
import { Crc64 } from './crc64.ts';

const scope = { date: '20130524', region: 'us-east-1' };
const key = signingKey('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', scope);
const verifiedBy = (seed: string): Verified => ({ key, seed, time: '20130524T000000Z', scope });

async function* cut(body: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < body.length; at += size) yield await Promise.resolve(body.subarray(at, at + size));
}

/** Receives a body in pieces of a size; answers the content, or the code of the error. */
async function receive(
  headers: Record<string, string>,
  payload: string,
  body: Buffer,
  { size = 1000, seed = 'seed' } = {},
): Promise<string> {
  try {
    const content = contentOf(headers, { payload }, verifiedBy(seed));
    const pieces: Buffer[] = [];
    for await (const piece of content.verified(cut(body, size))) pieces.push(piece);
    return Buffer.concat(pieces).toString('latin1');
  } catch (error) {
    return error instanceof S3Error ? error.code : String(error);
  }
}

const text = 'a'.repeat(66_560);

/** The body of the example in the documentation of S3, with or without a trailer. */
const documented = (signatures: string[], end: string) =>
  Buffer.from(
    `10000;chunk-signature=${signatures[0]}\r\n${text.slice(0, 65_536)}\r\n400;chunk-signature=${signatures[1]}\r\n${text.slice(65_536)}\r\n0;chunk-signature=${signatures[2]}\r\n${end}\r\n`,
  );

const plainChunks = {
  seed: '4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9',
  body: documented(
    [
      'ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648',
      '0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497',
      'b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9',
    ],
    '',
  ),
};

const trailingSeed = '106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e';
const trailing = (between: string, crc = 'sOO8/Q==') =>
  documented(
    [
      'b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2',
      '1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7',
      '2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992',
    ],
    `x-amz-checksum-crc32c:${crc}${between}x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n`,
  );

const decodedLength = { 'x-amz-decoded-content-length': '66560' };
const withTrailer = { ...decodedLength, 'x-amz-trailer': 'x-amz-checksum-crc32c' };

test.each([1, 7, 65_536, 100_000])('decodes the documented chunks from pieces of %i bytes', async (size) => {
  const { seed, body } = plainChunks;
  expect(await receive(decodedLength, payloads.signedChunks, body, { size, seed })).toBe(text);
});

test.each(['\r\n', '\n\r\n', '\r\n\r\n'])('decodes the documented trailer, ended by %j', async (between) => {
  const options = { seed: trailingSeed, size: 5000 };
  const payload = payloads.signedChunksAndTrailer;
  expect(await receive(withTrailer, payload, trailing(between), options)).toBe(text);
});

test('one changed byte anywhere in signed chunks is refused', async () => {
  const { seed, body } = plainChunks;
  const places = [
    0,
    2,
    10,
    30,
    86,
    87,
    5_000,
    65_622,
    65_623,
    65_640,
    body.length - 70,
    body.length - 10,
    body.length - 3,
  ];
  for (const at of places) {
    const changed = Buffer.from(body);
    changed[at]! ^= 1;
    const found = await receive(decodedLength, payloads.signedChunks, changed, { size: 70_000, seed });
    expect([at, found.length < 60]).toEqual([at, true]);
  }
  for (const at of [5, 200, 66_000]) {
    const short = body.subarray(0, body.length - at);
    expect(await receive(decodedLength, payloads.signedChunks, short, { seed })).toBe('IncompleteBody');
  }
  expect(await receive(decodedLength, payloads.signedChunks, body)).toBe('SignatureDoesNotMatch');
});

test('a trailer with another checksum or without its signature is refused', async () => {
  const payload = payloads.signedChunksAndTrailer;
  const wrong = trailing('\r\n', 'sOO8/A==');
  expect(await receive(withTrailer, payload, wrong, { seed: trailingSeed })).toBe('SignatureDoesNotMatch');
  const unsigned = Buffer.from(
    trailing('\r\n')
      .toString()
      .replace(/x-amz-trailer-signature:.*\r\n/, ''),
  );
  expect(await receive(withTrailer, payload, unsigned, { seed: trailingSeed })).toBe('IncompleteBody');
});

const unsignedBody = (data: string, trailer: string) =>
  Buffer.from(`${data.length.toString(16)}\r\n${data}\r\n0\r\n${trailer}\r\n`);

const digestOf = (name: keyof typeof algorithms, data: string) => {
  const digest = algorithms[name].create();
  digest.update(Buffer.from(data));
  return digest.digest().toString('base64');
};

test.each(Object.keys(algorithms) as (keyof typeof algorithms)[])(
  'verifies %s after the content and before it',
  async (name) => {
    const header = `x-amz-checksum-${name}`;
    const right = digestOf(name, 'hello');
    const wrong = digestOf(name, 'hallo');
    const chunked = { 'x-amz-decoded-content-length': '5', 'x-amz-trailer': header };
    const plain = { 'content-length': '5' };
    const body = Buffer.from('hello');
    const after = (value: string) => unsignedBody('hello', `${header}:${value}\r\n`);
    expect(await receive(chunked, payloads.unsignedTrailer, after(right))).toBe('hello');
    expect(await receive(chunked, payloads.unsignedTrailer, after(wrong))).toBe('BadDigest');
    expect(await receive(chunked, payloads.unsignedTrailer, after('x'))).toBe('InvalidRequest');
    expect(await receive(chunked, payloads.unsignedTrailer, unsignedBody('hello', ''))).toBe(
      'InvalidRequest',
    );
    expect(await receive({ ...plain, [header]: right }, payloads.unsigned, body)).toBe('hello');
    expect(await receive({ ...plain, [header]: wrong }, payloads.unsigned, body)).toBe('BadDigest');
    expect(await receive({ ...plain, [header]: `${right} ` }, payloads.unsigned, body)).toBe(
      'InvalidRequest',
    );
  },
);

const md5 = createHash('md5').update('hello').digest('base64');

test.each<[string, Record<string, string>, string, string]>([
  ['the right hash', {}, sha256Hex('hello'), 'hello'],
  ['a wrong hash', {}, sha256Hex('hallo'), 'XAmzContentSHA256Mismatch'],
  ['the right MD5', { 'content-md5': md5 }, payloads.unsigned, 'hello'],
  ['a wrong MD5', { 'content-md5': createHash('md5').digest('base64') }, payloads.unsigned, 'BadDigest'],
  ['a broken MD5', { 'content-md5': 'abc' }, payloads.unsigned, 'InvalidDigest'],
  ['an unknown checksum', { 'x-amz-checksum-md7': 'abc' }, payloads.unsigned, 'NotImplemented'],
  [
    'two checksums',
    { 'x-amz-checksum-crc32': digestOf('crc32', 'hello'), 'x-amz-checksum-sha1': digestOf('sha1', 'hello') },
    payloads.unsigned,
    'InvalidRequest',
  ],
  ['a broken length', { 'content-length': '-5' }, payloads.unsigned, 'InvalidArgument'],
])('a body with %s', async (_what, headers, payload, expected) => {
  expect(await receive({ 'content-length': '5', ...headers }, payload, Buffer.from('hello'))).toBe(expected);
});

test.each<[string, string]>([
  ['no size', '\r\nhello\r\n0\r\n\r\n'],
  ['a size that is no number', 'x\r\nhello\r\n0\r\n\r\n'],
  ['a size of too many digits', '00000000005\r\nhello\r\n0\r\n\r\n'],
  ['a chunk that is longer than its size', '4\r\nhello\r\n0\r\n\r\n'],
  ['a chunk that is shorter than its size', '6\r\nhello\r\n0\r\n\r\n'],
  ['more data than announced', '6\r\nhello!\r\n0\r\n\r\n'],
  ['less data than announced', '4\r\nhell\r\n0\r\n\r\n'],
  ['data after the end', '5\r\nhello\r\n0\r\n\r\n!'],
  ['no end', '5\r\nhello\r\n0\r\n'],
  ['a header after the content that was not announced', '5\r\nhello\r\n0\r\nx-amz-meta-a:b\r\n\r\n'],
  ['a line without an end', `${'5'.repeat(300)}`],
  ['a trailer without an end', `5\r\nhello\r\n0\r\n${'a'.repeat(5_000)}`],
])('refuses chunks with %s', async (_what, body) => {
  const headers = { 'x-amz-decoded-content-length': '5' };
  for (const size of [1, 1000]) {
    const found = await receive(headers, payloads.unsignedTrailer, Buffer.from(body), { size });
    expect(['InvalidRequest', 'IncompleteBody']).toContain(found);
  }
});

test('any content in any signed chunks, received in any pieces, is the content that was sent', async () => {
  const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(chunks, fc.integer({ min: 1, max: 400 }), async (parts, size) => {
      const head = 'AWS4-HMAC-SHA256-PAYLOAD';
      let previous = 'seed';
      const framed = [...parts, new Uint8Array()].map((part) => {
        const lines = [head, '20130524T000000Z', scopeText(scope), previous, sha256Hex(''), sha256Hex(part)];
        previous = signature(key, lines.join('\n'));
        const line = `${part.length.toString(16)};chunk-signature=${previous}\r\n`;
        return Buffer.concat([Buffer.from(line), part, Buffer.from('\r\n')]);
      });
      const whole = Buffer.concat(parts);
      const headers = { 'x-amz-decoded-content-length': String(whole.length) };
      const found = await receive(headers, payloads.signedChunks, Buffer.concat(framed), { size });
      expect(found).toBe(whole.toString('latin1'));
    }),
  );
});

test('CRC-64/NVME is the one of its specification', () => {
  const crc = new Crc64();
  crc.update(Buffer.from('1234'));
  crc.update(Buffer.from('56789'));
  expect(crc.digest().toString('hex')).toBe('ae8b14860a799888');
});
