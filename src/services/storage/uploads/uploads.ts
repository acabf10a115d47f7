import type { Part, Upload } from '../../../../generated/storage/types.ts';
import type { Uploads } from '../../../../generated/storage/server.ts';
import type { Context, Reply } from '../../../http/context.ts';
import { pageOf, windowOf } from '../../../http/lists.ts';
import { parseDuration } from '../../../lib/durations.ts';
import { Invalid } from '../../../lib/errors.ts';
import { bucketStore } from '../buckets/buckets.store.ts';
import { parseChecksums } from '../content/checksums.ts';
import { httpDate } from '../content/http-headers.ts';
import { checkMetadata } from '../content/metadata.ts';
import { checkKey, checkKeyBytes } from '../content/object-key.ts';
import type { Deps } from '../deps.ts';
import { ConditionFailed, ObjectNotFound } from '../errors.ts';
import { checkMayRead } from '../objects/copy-source.ts';
import { plainFields } from '../objects/object-fields.ts';
import { conditionsOf } from '../objects/reading.ts';
import { type Completed, type FoundUpload, partEtag, sourceSpan } from './multipart.ts';
import { type DatedPart, partStore } from './parts.store.ts';
import { uploadStore } from './uploads.store.ts';

export function uploads({ db, shelf, multipart }: Pick<Deps, 'db' | 'shelf' | 'multipart'>) {
  return {
    async create({ bucket, body: { expires_in = '168h', ...fields } }, context) {
      const lifetimeMs = lifetime(expires_in);
      checkKey(fields.key);
      checkMetadata(fields.metadata ?? {});
      const found = await bucketStore(db.sql).get(context.tenant, bucket);
      return shown(await multipart.begin(context, found, { ...plainFields, ...fields }, lifetimeMs));
    },

    async list({ bucket, status, prefix, ...request }, { tenant }) {
      const window = windowOf(request);
      checkKeyBytes('prefix', prefix ?? '');
      const found = await bucketStore(db.sql).get(tenant, bucket);
      const rows = await uploadStore(db.sql).list(tenant, found.id, { status, prefix }, window);
      const { items, next } = pageOf(window, rows);
      const uploads = items.map((upload) => shown({ bucket: found, upload }));
      return { uploads, truncated: next !== null, cursor: next };
    },

    async get({ bucket, id, part_limit, part_after }, { tenant }) {
      const found = await multipart.find(tenant, bucket, id);
      const parts = await partStore(db.sql).list(tenant, id, part_after, part_limit);
      return {
        ...shown(found),
        parts: parts.slice(0, part_limit).map(shownPart),
        parts_truncated: parts.length > part_limit,
      };
    },

    async uploadPart({ bucket, id, partNum, body, ...headers }, context) {
      const expected = parseChecksums(headers['X-Store-Checksum']);
      const found = await multipart.find(context.tenant, bucket, id);
      const content = { source: body, expected, declaredSize: headers['Content-Length'] };
      return answered(context.reply, await multipart.putPart(context, found, partNum, content));
    },

    async copyPart({ bucket, id, partNum, body }, context) {
      const { source_bucket, source_key, source_range, source_etag } = body;
      const { tenant } = context;
      checkMayRead(context);
      const found = await multipart.find(tenant, bucket, id);
      const source = await shelf.find(tenant, source_bucket ?? found.bucket.id, checkKey(source_key));
      if (!source.object) throw ObjectNotFound();
      if (source_etag != null && source_etag !== source.object.etag) throw ConditionFailed();
      const span = source_range == null ? undefined : sourceSpan(source_range, source.object.size);
      return answered(context.reply, await multipart.copyPart(context, found, partNum, source, span));
    },

    async complete({ bucket, id, body = {}, ...headers }, context) {
      const conditions = conditionsOf(headers);
      const found = await multipart.find(context.tenant, bucket, id);
      return answeredObject(context.reply, await multipart.complete(context, found, { ...body, conditions }));
    },

    async abort({ bucket, id }, context) {
      await multipart.abort(context, await multipart.find(context.tenant, bucket, id));
    },
  } satisfies Uploads<Context>;
}

const minute = 60_000;
const longestMs = 720 * 60 * minute;

function lifetime(text: string): number {
  const milliseconds = parseDuration(text, 'expires_in');
  if (milliseconds < minute) throw Invalid('expires_in: at least 1m');
  if (milliseconds > longestMs) throw Invalid('expires_in: at most 720h');
  return milliseconds;
}

/** An upload as it is shown without its parts. */
const shown = ({ bucket, upload }: FoundUpload): Upload => ({
  id: upload.id,
  bucket: bucket.name,
  key: upload.key,
  content_type: upload.content_type,
  cache_control: upload.cache_control,
  content_disposition: upload.content_disposition,
  content_encoding: upload.content_encoding,
  content_language: upload.content_language,
  metadata: upload.metadata,
  status: upload.status,
  uploaded_parts: upload.uploaded_parts,
  uploaded_bytes: upload.uploaded_bytes,
  parts: null,
  parts_truncated: false,
  expires_at: upload.expires_at,
  created_at: upload.created_at,
  updated_at: upload.updated_at,
  completed_at: upload.completed_at,
});

const shownPart = (part: DatedPart): Part => ({
  part_number: part.part_number,
  size: part.size,
  etag: partEtag(part),
  checksum: `sha256:${part.sha256}`,
  uploaded_at: part.uploaded_at,
});

function answered(reply: Reply, stored: DatedPart): Part {
  const part = shownPart(stored);
  reply.header('ETag', part.etag);
  reply.header('X-Store-Checksum', part.checksum);
  return part;
}

function answeredObject(reply: Reply, object: Completed): Completed {
  reply.header('ETag', object.etag);
  reply.header('X-Store-Checksum', object.checksum);
  reply.header('Last-Modified', httpDate(object.last_modified));
  return object;
}
