import type { IncomingHttpHeaders } from 'node:http';
import { s3Error } from './protocol/errors.ts';
import { type OperationName, type Query, subresources } from './protocol/requests.ts';

/** What headers may say although the façade does nothing about them, because it is what happens anyway. */
const harmless: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^x-amz-acl$/, ['private', 'bucket-owner-full-control', 'bucket-owner-read']],
  [/^x-amz-storage-class$/, ['STANDARD']],
  [/^x-amz-object-ownership$/, ['BucketOwnerEnforced', 'BucketOwnerPreferred', 'ObjectWriter']],
  [/^x-amz-bucket-object-lock-enabled$/, ['false']],
  [/^x-amz-(tagging|grant-.*|website-redirect-location)$/, []],
  [/^x-amz-(copy-source-)?server-side-encryption/, []],
  [/^x-amz-object-lock-/, []],
  [/^x-amz-(write-offset-bytes|rename-source.*|if-match-.*|security-token)$/, []],
  [/^(expires|versionid)$/, ['null']],
];

/** The headers of S3 that the façade reads, and those that ask for nothing. They may be in the query of a signed URL, too. */
const known =
  /^x-amz-(date|content-sha256|user-agent|sdk-.*|request-payer|checksum-.*|meta-.*|tagging-directive|te|mfa|bypass-governance-retention|optional-object-attributes)$/;

/** Those that are read as headers only. */
const knownHeaders =
  /^x-amz-(decoded-content-length|trailer|copy-source|copy-source-(range|if-.*)|metadata-directive|mp-object-size|(source-)?expected-bucket-owner)$/;

/** Those that are read in the query only: the signature. */
const knownParameters = /^x-amz-(algorithm|credential|expires|signedheaders|signature)$/;

const listing = ['prefix', 'delimiter', 'max-keys', 'encoding-type'];
const reading = ['response-content-type', 'response-content-language', 'response-expires'].concat([
  ...['response-cache-control', 'response-content-disposition', 'response-content-encoding', 'partNumber'],
]);

/** The parameters of operations, besides those that name a part of a bucket or an object. */
const parameters: Partial<Record<OperationName, readonly string[]>> = {
  ListBuckets: ['prefix', 'max-buckets', 'continuation-token'],
  ListObjects: [...listing, 'marker'],
  ListObjectsV2: [...listing, 'list-type', 'continuation-token', 'start-after', 'fetch-owner'],
  ListMultipartUploads: [
    ...['prefix', 'delimiter', 'encoding-type', 'key-marker', 'upload-id-marker', 'max-uploads'],
  ],
  ListParts: ['part-number-marker', 'max-parts'],
  ...{ GetObject: reading, HeadObject: reading, UploadPart: ['partNumber'], UploadPartCopy: ['partNumber'] },
};

/**
 * Throws `NotImplemented` for what a request asks for and would not get, such as encryption or public access: better refused than
 * silently left out. A parameter that nobody knows may name a part of a bucket, and deleting that must not delete the bucket. Signed
 * URLs may carry headers in the query.
 */
export function checkSupported(operation: OperationName, headers: IncomingHttpHeaders, query: Query): void {
  for (const [name, value] of Object.entries(headers)) {
    checkHeader(name, String(value));
    if (name.startsWith('x-amz-') && !isKnown(name, knownHeaders)) throw unsupported(name);
  }
  for (const [name, value] of query.pairs) {
    checkHeader(name.toLowerCase(), value);
    if (!isParameter(operation, name)) throw unsupported(`The parameter ${name.slice(0, 100)}`);
  }
}

const unsupported = (what: string) => s3Error('NotImplemented', `${what} is not supported`);

const ruleFor = (name: string) => harmless.find(([form]) => form.test(name));

function checkHeader(name: string, value: string): void {
  const rule = ruleFor(name);
  if (rule === undefined || value === '' || rule[1].includes(value)) return;
  throw unsupported(`${name}: ${value.slice(0, 100)}`);
}

const isKnown = (name: string, here: RegExp): boolean =>
  known.test(name) || here.test(name) || ruleFor(name) !== undefined;

/** Names of other parameters that begin with `x-` are for the logs of those who send them. */
function isParameter(operation: OperationName, name: string): boolean {
  const lower = name.toLowerCase();
  if (lower.startsWith('x-amz-')) return isKnown(lower, knownParameters);
  if (lower.startsWith('x-') || name === 'versionId') return true;
  return subresources.includes(name) || (parameters[operation] ?? []).includes(name);
}
