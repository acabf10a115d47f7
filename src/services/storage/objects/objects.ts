import type { Objects } from '../../../../generated/storage/server.ts';
import { batchedReads } from '../../../db/batched-reads.ts';
import type { Context } from '../../../http/context.ts';
import { Unavailable } from '../../../lib/errors.ts';
import { type BucketRef, bucketStore, type FoundBucket, nameOfRef } from '../buckets/buckets.store.ts';
import { recentBuckets } from '../buckets/recent-buckets.ts';
import { parseChecksums } from '../content/checksums.ts';
import { decodeListingCursor, encodeListingCursor } from '../content/listing-cursor.ts';
import { checkKey, checkKeyBytes } from '../content/object-key.ts';
import type { Deps } from '../deps.ts';
import { BucketNotFound, ObjectNotFound } from '../errors.ts';
import { limitsOfLink } from '../links/link-limits.ts';
import { signedLink } from '../links/links.ts';
import { copySource } from './copy-source.ts';
import { deleteKeys } from './deletions.ts';
import { changedFields, fieldsInHeaders, fieldsOfCopy } from './object-fields.ts';
import { contentAtHand } from './object-reader.ts';
import type { Found } from './objects.store.ts';
import { conditionsOf, isKnown, rangeHeaders, spanOf } from './reading.ts';
import { type Destination, readsAtOnce } from './shelf.ts';
import { answerKept, contentHeaders } from './responses.ts';

type ObjectDeps = Pick<Deps, 'db' | 'shelf' | 'linkKeys' | 'baseUrl'>;

/** Objects: content and its metadata, under keys in a bucket. */
export function objects({ db, shelf, linkKeys, baseUrl }: ObjectDeps) {
  const recent = recentBuckets(bucketStore(db.sql));
  const findBucket = batchedReads((asked: BucketRef[]) => recent.findAll(asked), nameOfRef, readsAtOnce);
  return {
    async put(request, context) {
      const key = checkKey(request.key);
      const expected = parseChecksums(request['X-Store-Checksum']);
      const fields = fieldsInHeaders(request);
      const { most, condition } = limitsOfLink(request, context);
      const conditions = { ...conditionsOf(request), ...condition };
      const declaredSize = request['Content-Length'];
      const putting = { key, expected, fields, most, conditions, declaredSize, source: request.body };
      const destination = await destinationOf(request, context);
      return answerKept(context.reply, await shelf.put(context, destination, putting));
    },

    async get({ download, ...request }, context) {
      for (let attempt = 1; attempt <= mostAttempts; attempt++) {
        const found = await find(request, context);
        if (isKnown(request, found.object, context)) return;
        const span = spanOf(request, found.object);
        const content = contentAtHand(found, span) ?? (await shelf.read(context.tenant, found, span));
        if (content === undefined) continue;
        rangeHeaders(context.reply, span, found.object.size);
        contentHeaders(context.reply, found.object, span, download);
        return content;
      }
      throw Unavailable('the object is being replaced');
    },

    async head(request, context) {
      const found = await find(request, context);
      if (isKnown(request, found.object, context)) return;
      contentHeaders(context.reply, found.object, { start: 0, end: found.object.size });
    },

    async delete(request, context) {
      const key = checkKey(request.key);
      const bucket = await bucketOf(request, context);
      const deleted = await shelf.delete(context, bucket, [key], conditionsOf(request));
      if (deleted.length === 0) throw ObjectNotFound();
    },

    async update({ body, ...request }, context) {
      const key = checkKey(request.key);
      const bucket = await bucketOf(request, context);
      const kept = await shelf.update(context, bucket, key, changedFields(body), conditionsOf(request));
      return answerKept(context.reply, kept);
    },

    async list({ prefix = '', delimiter, start_after, limit, cursor, ...request }, context) {
      checkKeyBytes('prefix', prefix);
      checkKeyBytes('start_after', start_after ?? '');
      const after = cursor === undefined ? undefined : decodeListingCursor(cursor);
      const bucket = await bucketOf(request, context);
      const page = { prefix, delimiter, after, startAfter: start_after, limit };
      const { objects, prefixes, last } = await shelf.list(context.tenant, bucket, page);
      const next = last === undefined ? null : encodeListingCursor(last);
      return { objects, truncated: next !== null, prefixes, cursor: next };
    },

    async copy({ body, ...request }, context) {
      const key = checkKey(body.key);
      const fields = fieldsOfCopy(body);
      const bucket = await bucketOf(request, context);
      const source = await copySource(shelf, body, bucket, context);
      const copying = { source, key, fields, conditions: conditionsOf(request) };
      return answerKept(context.reply, await shelf.copy(context, bucket, copying));
    },

    deleteMany: async ({ body, ...request }, context) =>
      await deleteKeys(shelf, await bucketOf(request, context), body.keys, context),

    presign: async ({ body, ...request }, context) =>
      signedLink({ linkKeys, baseUrl }, await bucketOf(request, context), body, context),
  } satisfies Objects<Context>;

  async function bucketOf({ bucket: ref }: { bucket: string }, context: Context): Promise<FoundBucket> {
    const bucket = await findBucket({ tenant: context.tenant, ref });
    if (!bucket) throw BucketNotFound();
    context.admitOrigins?.(bucket.cors_origins);
    return bucket;
  }

  /**
   * A remembered bucket is good enough: nothing is refused by it, and its version is verified with the commit. Only the limit of content of
   * unknown size is needed as it is now.
   */
  async function destinationOf(
    request: { bucket: string; 'Content-Length'?: number | undefined },
    context: Context,
  ): Promise<Destination> {
    const current = () => bucketOf(request, context);
    const sized = request['Content-Length'] !== undefined;
    const bucket = sized ? recent.recall({ tenant: context.tenant, ref: request.bucket }) : undefined;
    if (bucket === undefined) return { bucket: await current(), current };
    context.admitOrigins?.(bucket.cors_origins);
    return { bucket, current };
  }

  async function find(request: { bucket: string; key: string }, context: Context): Promise<Found> {
    const found = await shelf.find(context.tenant, request.bucket, checkKey(request.key));
    context.admitOrigins?.(found.bucket.cors_origins);
    if (found.object === undefined) throw ObjectNotFound();
    return found;
  }
}

/** How often an object is looked up that is replaced before it can be read. */
const mostAttempts = 5;
