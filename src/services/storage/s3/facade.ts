import type { RawMount, RawRequest } from '../../../http/raw-mounts.ts';
import type { Sealer } from '../../../lib/seal.ts';
import { checksumPrefix } from './bodies/checksums.ts';
import { contentOf } from './bodies/content.ts';
import { asS3Error, errorAnswer } from './failures.ts';
import { callerOf, checkOwner, checkRight, identified } from './identification.ts';
import {
  createBucket,
  deleteBucket,
  getBucketLocation,
  getBucketSetting,
  getObjectSetting,
  headBucket,
  listBuckets,
} from './operations/buckets.ts';
import type { Answer, S3Call, S3Deps } from './operations/call.ts';
import { completeMultipartUpload } from './operations/completion.ts';
import { deleteObjects } from './operations/deletions.ts';
import { listObjects, listObjectsV2 } from './operations/listings.ts';
import { getObject, headObject } from './operations/objects.ts';
import { listMultipartUploads, listParts } from './operations/upload-listings.ts';
import {
  abortMultipartUpload,
  createMultipartUpload,
  uploadPart,
  uploadPartCopy,
} from './operations/uploads.ts';
import { copyObject, deleteObject, putObject } from './operations/writes.ts';
import { type OperationName, operationOf, operations, targetOf } from './protocol/requests.ts';
import { checkSupported } from './unsupported.ts';

export interface FacadeDeps extends S3Deps {
  readonly sealer: Sealer;
}

/** What a request sends: content that is passed on as it arrives, or a document that is read whole. */
type Body = 'content' | 'document' | 'none';

const handlers: Readonly<
  Record<OperationName, readonly [(deps: S3Deps, call: S3Call) => Promise<Answer>, Body]>
> = {
  ListBuckets: [listBuckets, 'none'],
  CreateBucket: [createBucket, 'document'],
  DeleteBucket: [deleteBucket, 'none'],
  HeadBucket: [headBucket, 'none'],
  GetBucketLocation: [getBucketLocation, 'none'],
  GetBucketSetting: [getBucketSetting, 'none'],
  ListObjects: [listObjects, 'none'],
  ListObjectsV2: [listObjectsV2, 'none'],
  DeleteObjects: [deleteObjects, 'document'],
  GetObject: [getObject, 'none'],
  HeadObject: [headObject, 'none'],
  GetObjectSetting: [getObjectSetting, 'none'],
  PutObject: [putObject, 'content'],
  CopyObject: [copyObject, 'none'],
  DeleteObject: [deleteObject, 'none'],
  CreateMultipartUpload: [createMultipartUpload, 'none'],
  UploadPart: [uploadPart, 'content'],
  UploadPartCopy: [uploadPartCopy, 'none'],
  CompleteMultipartUpload: [completeMultipartUpload, 'document'],
  AbortMultipartUpload: [abortMultipartUpload, 'none'],
  ListParts: [listParts, 'none'],
  ListMultipartUploads: [listMultipartUploads, 'none'],
};

/**
 * Buckets and objects for clients of S3: the same ones, with the same quotas, conditions, events and limits as everywhere else. Paths
 * are `/<bucket>/<key>`; requests are signed with access keys of the service.
 */
export const s3Facade = (deps: FacadeDeps, port: number): RawMount => ({
  name: 'S3',
  path: '/s3',
  port,
  async answer(request) {
    try {
      const { status, contentType, headers, ...rest } = await answered(deps, request);
      return { status, contentType, headers: { 'x-amz-request-id': request.requestId, ...headers }, ...rest };
    } catch (thrown) {
      return errorAnswer(asS3Error(thrown), request.path, request.requestId);
    }
  },
});

async function answered(deps: FacadeDeps, request: RawRequest): Promise<Answer> {
  const target = targetOf(request.url, request.path);
  const { query } = target;
  const { claim, verified, credential } = await identified(deps, request, target);
  const author = callerOf(credential);
  request.identify(author);
  const operation = operationOf(request.method, target, request.headers);
  request.name(operation);
  checkRight(credential, operations[operation]);
  checkOwner(request, credential);
  checkSupported(operation, request.headers, query);
  const content = contentOf(headersOfContent(request, operation), claim, verified);
  const [handle, body] = handlers[operation];
  const document = body === 'document' ? await documentOf(request, content) : Buffer.alloc(0);
  const call: S3Call = {
    ...{ request, target, query, author, content, document },
    onlyBucket: credential.bucket_id,
    checkRight: (right) => checkRight(credential, right),
  };
  // Content arrives only as fast as the client sends it, so whoever sends it occupies no turn.
  return body === 'content' ? await handle(deps, call) : await request.turn(() => handle(deps, call));
}

/** The checksums in a completion are those of the object, and not of the document. */
const headersOfContent = ({ headers }: RawRequest, operation: OperationName): RawRequest['headers'] =>
  operation === 'CompleteMultipartUpload'
    ? Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(checksumPrefix)))
    : headers;

/** The most bytes of a document: 10,000 parts with their checksums. */
const longestDocument = 4 * 1024 * 1024;

async function documentOf(request: RawRequest, content: S3Call['content']): Promise<Buffer> {
  const limits = { bytes: longestDocument, totalMs: 60_000, silenceMs: 30_000 };
  const pieces: Buffer[] = [];
  for await (const piece of content.verified(request.body(limits))) pieces.push(piece);
  return Buffer.concat(pieces);
}
