import type { IncomingHttpHeaders } from 'node:http';
import { s3Error } from './protocol/errors.ts';
import type { Query } from './protocol/requests.ts';

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

/**
 * Throws `NotImplemented` for what a request asks for and would not get, such as encryption or public access: better refused than
 * silently left out. Signed URLs may carry the headers in the query.
 */
export function checkSupported(headers: IncomingHttpHeaders, query: Query): void {
  for (const [name, value] of [...Object.entries(headers), ...query.pairs])
    checkHeader(name.toLowerCase(), String(value));
}

function checkHeader(name: string, value: string): void {
  const rule = harmless.find(([form]) => form.test(name));
  if (rule === undefined || value === '' || rule[1].includes(value)) return;
  throw s3Error('NotImplemented', `${name}: ${value.slice(0, 100)} is not supported`);
}
