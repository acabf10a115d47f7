import { decodeListingCursor, encodeListingCursor } from '../../content/listing-cursor.ts';
import { checkKeyBytes } from '../../content/object-key.ts';
import type { Listing } from '../../objects/listing.store.ts';
import { uriEncodePath } from '../protocol/encoding.ts';
import { s3Error } from '../protocol/errors.ts';
import type { Query } from '../protocol/requests.ts';
import { shownTag } from '../protocol/tags.ts';
import { document, element, elements } from '../protocol/xml.ts';
import { type Answer, bucketOf, type S3Call, type S3Deps, xmlAnswer } from './call.ts';
import { tagStore } from './tags.store.ts';

/** What both versions of the listing share. */
interface Asked {
  readonly prefix: string;
  readonly delimiter: string | undefined;
  readonly limit: number;
  readonly encode: (text: string) => string;
  readonly encodingType: string | undefined;
}

/** Where a listing begins. */
interface Place {
  readonly after?: string | undefined;
  readonly startAfter?: string | undefined;
}

/** ListObjectsV2. */
export async function listObjectsV2(deps: S3Deps, call: S3Call): Promise<Answer> {
  const { query, author } = call;
  const asked = askedOf(query);
  const token = query.get('continuation-token');
  const startAfter = query.get('start-after') || undefined;
  checkKeyBytes('start-after', startAfter ?? '');
  const after = token === undefined ? undefined : decodeListingCursor(token);
  const page = await pageOf(deps, call, asked, { after, startAfter });
  return answerOf(call, asked, page, {
    rows: objectRows(page, asked, query.get('fetch-owner') === 'true' ? author.tenant : undefined),
    members: {
      KeyCount: page.objects.length + page.prefixes.length,
      ContinuationToken: token,
      NextContinuationToken: page.last === undefined ? undefined : encodeListingCursor(page.last),
      StartAfter: startAfter === undefined ? undefined : asked.encode(startAfter),
    },
  });
}

/** ListObjects, the first version, which older clients use. */
export async function listObjects(deps: S3Deps, call: S3Call): Promise<Answer> {
  const { query, author } = call;
  const asked = askedOf(query);
  const marker = query.get('marker') ?? '';
  checkKeyBytes('marker', marker);
  const after = marker === '' ? undefined : groupOf(marker, asked);
  const page = await pageOf(deps, call, asked, { after });
  return answerOf(call, asked, page, {
    rows: objectRows(page, asked, author.tenant),
    members: {
      Marker: asked.encode(marker),
      NextMarker: page.last === undefined ? undefined : asked.encode(page.last),
    },
  });
}

/** A marker within a group of keys stands for the whole group, which is not listed again. */
function groupOf(marker: string, { prefix, delimiter }: Asked): string {
  if (delimiter === undefined || !marker.startsWith(prefix)) return marker;
  const at = marker.indexOf(delimiter, prefix.length);
  return at === -1 ? marker : marker.slice(0, at + delimiter.length);
}

function askedOf(query: Query): Asked {
  const prefix = query.get('prefix') ?? '';
  const delimiter = query.get('delimiter') || undefined;
  const encodingType = query.get('encoding-type');
  checkKeyBytes('prefix', prefix);
  if (delimiter !== undefined && delimiter.length > 16)
    throw s3Error('InvalidArgument', 'delimiter must have at most 16 characters');
  if (encodingType !== undefined && encodingType !== 'url')
    throw s3Error('InvalidArgument', 'encoding-type must be url');
  return {
    prefix,
    delimiter,
    limit: query.integer('max-keys', { fallback: 1000, most: 1000 }),
    encode: encodingType === 'url' ? uriEncodePath : (text) => text,
    encodingType,
  };
}

async function pageOf(deps: S3Deps, call: S3Call, asked: Asked, place: Place): Promise<Listing> {
  const { prefix, delimiter, limit } = asked;
  const bucket = await bucketOf(deps, call);
  if (limit === 0) return { objects: [], prefixes: [], last: undefined };
  const { after, startAfter } = place;
  const { tenant } = call.author;
  const page = await deps.shelf.list(tenant, bucket, { prefix, delimiter, limit, after, startAfter });
  return { ...page, objects: await tagged(deps, tenant, bucket.id, page.objects) };
}

/** Replaces the tags of objects by those that clients see. */
async function tagged({ db }: S3Deps, tenant: string, bucketId: string, objects: Listing['objects']) {
  if (objects.length === 0) return objects;
  const keys = objects.map(({ key }) => key);
  const known = new Map(
    (await tagStore(db.sql).list(tenant, bucketId, keys)).map((one) => [one.key, one] as const),
  );
  return objects.map((object) => {
    const found = known.get(object.key);
    // Another one may have taken its place since the page was read.
    const { md5, tag } = found?.etag === object.etag ? found : { md5: null, tag: null };
    return { ...object, etag: shownTag({ etag: object.etag, size: object.size, md5, tag }) };
  });
}

const objectRows = ({ objects }: Listing, { encode }: Asked, owner: string | undefined) =>
  objects.map(({ key, last_modified, etag, size }) =>
    element('Contents', [
      elements({ Key: encode(key), LastModified: last_modified, ETag: etag, Size: size }),
      owner === undefined ? undefined : element('Owner', elements({ ID: owner, DisplayName: owner })),
      element('StorageClass', 'STANDARD'),
    ]),
  );

function answerOf(
  { target }: S3Call,
  { prefix, delimiter, limit, encode, encodingType }: Asked,
  page: Listing,
  { rows, members }: { rows: ReturnType<typeof objectRows>; members: Parameters<typeof elements>[0] },
): Answer {
  const common = {
    Name: target.bucket,
    Prefix: encode(prefix),
    Delimiter: delimiter === undefined ? undefined : encode(delimiter),
    MaxKeys: limit,
    EncodingType: encodingType,
    IsTruncated: page.last !== undefined,
  };
  const prefixes = page.prefixes.map((one) => element('CommonPrefixes', elements({ Prefix: encode(one) })));
  return xmlAnswer(document('ListBucketResult', [elements({ ...common, ...members }), rows, prefixes]));
}
