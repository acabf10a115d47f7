import { type QueryPair, queryPairs, uriDecode } from './encoding.ts';
import { s3Error } from './errors.ts';

/** The parameters of a query; S3 reads the first of several of one name. */
export class Query {
  readonly pairs: readonly QueryPair[];

  constructor(pairs: readonly QueryPair[]) {
    this.pairs = pairs;
  }

  get(name: string): string | undefined {
    return this.pairs.find(([given]) => given === name)?.[1];
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** A number from `least` to `most`; larger ones count as `most`, as S3 does. */
  integer(
    name: string,
    { fallback, least = 0, most }: { fallback: number; least?: number; most: number },
  ): number {
    const text = this.get(name);
    if (text === undefined || text === '') return fallback;
    const value = /^[0-9]{1,12}$/.test(text) ? Number(text) : -1;
    if (value < least) throw s3Error('InvalidArgument', `${name} must be a number of at least ${least}`);
    return Math.min(value, most);
  }
}

/** What a request is about: the account, a bucket, or an object in a bucket. */
export interface Target {
  readonly bucket: string;
  readonly key: string;
  readonly query: Query;
  /** The percent-decoded path of the URL, which is signed. */
  readonly signedPath: string;
}

/** Divides the URL of a request. The mount is the part of the path that comes before the bucket. */
export function targetOf(url: string, mountedPath: string): Target {
  const [path = '/', query = ''] = cut(url, '?');
  const [bucket, key = ''] = cut(mountedPath.replace(/^\//, ''), '/');
  return {
    bucket: uriDecode(bucket),
    key: uriDecode(key),
    query: new Query(queryPairs(query)),
    signedPath: uriDecode(path),
  };
}

/** Cuts a text at the first separator. */
export function cut(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}

export type Right = 'read' | 'write';

/** The operations of the façade and the right that each needs; those that copy also need the right to read their source. */
export const operations = {
  ListBuckets: 'read',
  CreateBucket: 'write',
  DeleteBucket: 'write',
  HeadBucket: 'read',
  GetBucketLocation: 'read',
  GetBucketSetting: 'read',
  ListObjects: 'read',
  ListObjectsV2: 'read',
  DeleteObjects: 'write',
  GetObject: 'read',
  HeadObject: 'read',
  GetObjectSetting: 'read',
  PutObject: 'write',
  CopyObject: 'write',
  DeleteObject: 'write',
  CreateMultipartUpload: 'write',
  UploadPart: 'write',
  UploadPartCopy: 'write',
  CompleteMultipartUpload: 'write',
  AbortMultipartUpload: 'write',
  ListParts: 'read',
  ListMultipartUploads: 'read',
} as const satisfies Record<string, Right>;

export type OperationName = keyof typeof operations;

/** Parameters that name a part of a bucket or an object which has operations of its own. */
export const subresources = [
  ...[
    'abac',
    'accelerate',
    'acl',
    'analytics',
    'attributes',
    'cors',
    'encryption',
    'intelligent-tiering',
    'inventory',
  ],
  ...['legal-hold', 'lifecycle', 'location', 'logging', 'metadataConfiguration', 'metadataTable', 'metrics'],
  ...[
    'notification',
    'object-lock',
    'ownershipControls',
    'policy',
    'policyStatus',
    'publicAccessBlock',
    'renameObject',
  ],
  ...[
    'replication',
    'requestPayment',
    'restore',
    'retention',
    'select',
    'session',
    'tagging',
    'torrent',
    'versioning',
  ],
  ...['versions', 'website', 'delete', 'uploads', 'uploadId'],
];

/** The part of a bucket or an object that a query names; undefined for the bucket or object itself. */
export const subresourceOf = (query: Query): string | undefined =>
  subresources.find((name) => query.has(name));

/** Finds the operation that a request means. Throws `NotImplemented` or `MethodNotAllowed` when there is none. */
export function operationOf(
  method: string,
  { bucket, key, query }: Pick<Target, 'bucket' | 'key' | 'query'>,
  headers: Readonly<Record<string, unknown>>,
): OperationName {
  const part = subresourceOf(query);
  if (bucket === '' && key !== '') throw s3Error('InvalidBucketName');
  const found =
    bucket === ''
      ? accountOperation(method, part)
      : key === ''
        ? bucketOperation(method, part, query)
        : objectOperation(method, part, headers['x-amz-copy-source'] !== undefined, query);
  if (found) return found;
  if (part !== undefined || method === 'POST') throw s3Error('NotImplemented');
  throw s3Error('MethodNotAllowed');
}

const accountOperation = (method: string, part: string | undefined): OperationName | undefined =>
  method === 'GET' && part === undefined ? 'ListBuckets' : undefined;

function bucketOperation(method: string, part: string | undefined, query: Query): OperationName | undefined {
  switch (`${method} ${part ?? ''}`) {
    case 'PUT ':
      return 'CreateBucket';
    case 'DELETE ':
      return 'DeleteBucket';
    case 'HEAD ':
      return 'HeadBucket';
    case 'GET ':
      return listing(query.get('list-type'));
    case 'GET location':
      return 'GetBucketLocation';
    case 'GET uploads':
      return 'ListMultipartUploads';
    case 'POST delete':
      return 'DeleteObjects';
    default:
      return method === 'GET' ? 'GetBucketSetting' : undefined;
  }
}

function listing(type: string | undefined): OperationName {
  if (type !== undefined && type !== '2') throw s3Error('InvalidArgument', 'list-type must be 2');
  return type === '2' ? 'ListObjectsV2' : 'ListObjects';
}

function objectOperation(
  method: string,
  part: string | undefined,
  copies: boolean,
  query: Query,
): OperationName | undefined {
  switch (`${method} ${part ?? ''}`) {
    case 'PUT ':
      if (query.has('partNumber')) throw s3Error('InvalidArgument', 'partNumber needs an uploadId');
      return copies ? 'CopyObject' : 'PutObject';
    case 'GET ':
      return 'GetObject';
    case 'HEAD ':
      return 'HeadObject';
    case 'DELETE ':
      return 'DeleteObject';
    case 'POST uploads':
      return 'CreateMultipartUpload';
    case 'PUT uploadId':
      return copies ? 'UploadPartCopy' : 'UploadPart';
    case 'POST uploadId':
      return 'CompleteMultipartUpload';
    case 'DELETE uploadId':
      return 'AbortMultipartUpload';
    case 'GET uploadId':
      return 'ListParts';
    default:
      return method === 'GET' ? 'GetObjectSetting' : undefined;
  }
}
