import { bucketStore, mostBuckets } from '../../buckets/buckets.store.ts';
import { decodeListingCursor, encodeListingCursor } from '../../content/listing-cursor.ts';
import { s3Error } from '../protocol/errors.ts';
import { readXml } from '../protocol/xml-reader.ts';
import { document, element, elements } from '../protocol/xml.ts';
import { type Answer, bucketOf, emptyAnswer, objectOf, type S3Call, type S3Deps, xmlAnswer } from './call.ts';

/** ListBuckets: those in which the access key may act. */
export async function listBuckets({ db }: S3Deps, { author, onlyBucket, query }: S3Call): Promise<Answer> {
  const { tenant } = author;
  const prefix = query.get('prefix') ?? '';
  const token = query.get('continuation-token');
  const limit = query.integer('max-buckets', { fallback: mostBuckets, least: 1, most: mostBuckets });
  const after = token === undefined ? undefined : decodeListingCursor(token);
  const page = await bucketStore(db.sql).list(tenant, { prefix, after, limit });
  const shown = page.slice(0, limit).filter(({ id }) => onlyBucket === null || id === onlyBucket);
  const rows = shown.map(({ name, created_at }) =>
    element('Bucket', elements({ Name: name, CreationDate: created_at })),
  );
  const owner = element('Owner', elements({ ID: tenant, DisplayName: tenant }));
  const next = page.length > limit ? encodeListingCursor(page[limit - 1]!.name) : undefined;
  const place = elements({ ContinuationToken: next, Prefix: prefix === '' ? undefined : prefix });
  return xmlAnswer(document('ListAllMyBucketsResult', [owner, element('Buckets', rows), place]));
}

const bucketName = /^(?!bkt_[0-7][0-9a-hjkmnp-tv-z]{25}$)[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** CreateBucket. The location means nothing here: the server has one. */
export async function createBucket(deps: S3Deps, call: S3Call): Promise<Answer> {
  const { author, target, document: body, onlyBucket } = call;
  const { bucket: name } = target;
  if (!bucketName.test(name)) throw s3Error('InvalidBucketName');
  if (onlyBucket !== null) {
    await bucketOf(deps, call);
    throw s3Error('BucketAlreadyOwnedByYou');
  }
  if (body.length > 0) {
    const { children } = await readXml(body, 'CreateBucketConfiguration');
    const other = children.find((child) => child.name !== 'LocationConstraint');
    if (other) throw s3Error('NotImplemented', `${other.name} is not supported for buckets`);
  }
  await deps.buckets.create(author, { name });
  return emptyAnswer(200, { Location: `/${name}` });
}

/** DeleteBucket, which must be empty. */
export async function deleteBucket(deps: S3Deps, call: S3Call): Promise<Answer> {
  const { id } = await bucketOf(deps, call);
  await deps.buckets.delete(call.author, id);
  return emptyAnswer(204);
}

/** The region that an empty location stands for; signatures may name any. */
const region = 'us-east-1';

export async function headBucket(deps: S3Deps, call: S3Call): Promise<Answer> {
  await bucketOf(deps, call);
  return emptyAnswer(200, { 'x-amz-bucket-region': region });
}

export async function getBucketLocation(deps: S3Deps, call: S3Call): Promise<Answer> {
  await bucketOf(deps, call);
  return xmlAnswer(document('LocationConstraint', undefined));
}

/** The settings that buckets of S3 have and ours have not, as S3 answers for a bucket in which they were never set. */
export async function getBucketSetting(deps: S3Deps, call: S3Call): Promise<Answer> {
  await bucketOf(deps, call);
  const { query, author } = call;
  if (query.has('acl')) return ownersOnly(author.tenant);
  if (query.has('versioning')) return xmlAnswer(document('VersioningConfiguration', undefined));
  if (query.has('requestPayment'))
    return xmlAnswer(document('RequestPaymentConfiguration', elements({ Payer: 'BucketOwner' })));
  if (query.has('logging')) return xmlAnswer(document('BucketLoggingStatus', undefined));
  if (query.has('notification')) return xmlAnswer(document('NotificationConfiguration', undefined));
  if (query.has('accelerate')) return xmlAnswer(document('AccelerateConfiguration', undefined));
  if (query.has('policy')) throw s3Error('NoSuchBucketPolicy');
  if (query.has('lifecycle')) throw s3Error('NoSuchLifecycleConfiguration');
  if (query.has('cors')) throw s3Error('NoSuchCORSConfiguration');
  if (query.has('tagging')) throw s3Error('NoSuchTagSet');
  if (query.has('encryption')) throw s3Error('ServerSideEncryptionConfigurationNotFoundError');
  if (query.has('object-lock')) throw s3Error('ObjectLockConfigurationNotFoundError');
  throw s3Error('NotImplemented');
}

/** The same for objects. */
export async function getObjectSetting(deps: S3Deps, call: S3Call): Promise<Answer> {
  await objectOf(deps, call);
  const { query, author } = call;
  if (query.has('acl')) return ownersOnly(author.tenant);
  if (query.has('tagging')) return xmlAnswer(document('Tagging', element('TagSet', [])));
  throw s3Error('NotImplemented');
}

const canonicalUser = ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser"';

/** Access is decided by access keys; what S3's lists can say of it is that the owner may do everything. */
function ownersOnly(tenant: string): Answer {
  const owner = elements({ ID: tenant, DisplayName: tenant });
  const grantee = element('Grantee', owner, canonicalUser);
  const grant = element('Grant', [grantee, element('Permission', 'FULL_CONTROL')]);
  return xmlAnswer(
    document('AccessControlPolicy', [element('Owner', owner), element('AccessControlList', [grant])]),
  );
}
