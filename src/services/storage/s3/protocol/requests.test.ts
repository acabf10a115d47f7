import { expect, test } from 'vitest';
import { S3Error } from './errors.ts';
import { operationOf, targetOf } from './requests.ts';

const meaning = (method: string, path: string, headers: Record<string, string> = {}): string => {
  try {
    return operationOf(method, targetOf(`/storage/s3${path}`, path.split('?')[0]!), headers);
  } catch (error) {
    return error instanceof S3Error ? error.code : String(error);
  }
};
const copies = { 'x-amz-copy-source': '/a/b' };

test.each([
  ['GET', '/', 'ListBuckets'],
  ['GET', '', 'ListBuckets'],
  ['GET', '?x-id=ListBuckets', 'ListBuckets'],
  ['GET', '//k', 'InvalidBucketName'],
  ['PUT', '/', 'MethodNotAllowed'],
  ['PUT', '/b', 'CreateBucket'],
  ['PUT', '/b/', 'CreateBucket'],
  ['HEAD', '/b/', 'HeadBucket'],
  ['DELETE', '/b', 'DeleteBucket'],
  ['DELETE', '/b?policy', 'NotImplemented'],
  ['PUT', '/b?versioning', 'NotImplemented'],
  ['GET', '/b', 'ListObjects'],
  ['GET', '/b?list-type=2&prefix=acl', 'ListObjectsV2'],
  ['GET', '/b?list-type=3', 'InvalidArgument'],
  ['GET', '/b?location', 'GetBucketLocation'],
  ['GET', '/b?location=', 'GetBucketLocation'],
  ['GET', '/b?versioning', 'GetBucketSetting'],
  ['GET', '/b?uploads', 'ListMultipartUploads'],
  ['POST', '/b?delete', 'DeleteObjects'],
  ['POST', '/b', 'NotImplemented'],
  ['GET', '/b/k', 'GetObject'],
  ['GET', '/b/k/', 'GetObject'],
  ['HEAD', '/b/k', 'HeadObject'],
  ['PUT', '/b/k?x-id=PutObject', 'PutObject'],
  ['DELETE', '/b/k', 'DeleteObject'],
  ['GET', '/b/k?acl', 'GetObjectSetting'],
  ['PUT', '/b/k?acl', 'NotImplemented'],
  ['POST', '/b/k?uploads', 'CreateMultipartUpload'],
  ['PUT', '/b/k?partNumber=1&uploadId=u', 'UploadPart'],
  ['PUT', '/b/k?partNumber=1', 'InvalidArgument'],
  ['POST', '/b/k?uploadId=u', 'CompleteMultipartUpload'],
  ['DELETE', '/b/k?uploadId=u', 'AbortMultipartUpload'],
  ['GET', '/b/k?uploadId=u', 'ListParts'],
  ['POST', '/b/k?select&select-type=2', 'NotImplemented'],
  ['PATCH', '/b/k', 'MethodNotAllowed'],
  ['GET', '/b/%ff', 'InvalidURI'],
  ['GET', '/b/%zz', 'InvalidURI'],
  ['GET', '/b?marker=%00', 'InvalidArgument'],
  ['PUT', '/b/k?x-amz-meta-%00=a', 'InvalidArgument'],
  ['GET', `/b?${'a&'.repeat(200)}`, 'InvalidArgument'],
])('%s %s means %s', (method, path, expected) => {
  expect(meaning(method, path)).toBe(expected);
});

test('a source makes a copy', () => {
  expect(meaning('PUT', '/b/k', copies)).toBe('CopyObject');
  expect(meaning('PUT', '/b/k?partNumber=1&uploadId=u', copies)).toBe('UploadPartCopy');
});

test('bucket and key are decoded once, and the whole path is signed', () => {
  expect(targetOf('/storage/s3/b/a%2Fb%20%2525+/?prefix=a+b%2B', '/b/a%2Fb%20%2525+/')).toMatchObject({
    bucket: 'b',
    key: 'a/b %25+/',
    signedPath: '/storage/s3/b/a/b %25+/',
    query: { pairs: [['prefix', 'a b+']] },
  });
});

test('a number in the query is limited, and anything else is refused', () => {
  const { query } = targetOf('/b?a=5&b=5000&c=x&d=-1&e=', '/b');
  const rule = { fallback: 7, most: 1000 };
  expect(['a', 'b', 'e', 'f'].map((name) => query.integer(name, rule))).toEqual([5, 1000, 7, 7]);
  for (const name of ['c', 'd']) expect(() => query.integer(name, rule)).toThrow(S3Error);
});
