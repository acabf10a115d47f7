import type { IncomingHttpHeaders } from 'node:http';
import { type ConditionHeaders, judgeRead } from '../../content/conditions.ts';
import { rangeOf } from '../../content/range.ts';
import type { ObjectRow } from '../../objects/objects.store.ts';
import { s3Error } from '../protocol/errors.ts';
import { meantCondition, meantRangeCondition } from '../protocol/tags.ts';
import { type Answer, emptyAnswer, objectOf, type S3Call, type S3Deps } from './call.ts';
import { checksumHeaders, describingHeaders, overridingHeaders } from './fields.ts';

/** How often a read begins again because the object was replaced meanwhile. */
const mostAttempts = 5;

/** GetObject: the content, or a range of it. */
export async function getObject(deps: S3Deps, call: S3Call): Promise<Answer> {
  for (let attempt = 1; attempt <= mostAttempts; attempt++) {
    const found = await objectOf(deps, call);
    const head = headOf(found.object, call);
    const { span } = head;
    if (span === undefined) return head.answer;
    const body = await deps.shelf.read(call.author.tenant, found, span);
    if (body) return { ...head.answer, body, silenceMs: deps.settings.idleTimeoutMs };
  }
  throw s3Error('SlowDown', 'The object is being replaced');
}

/** HeadObject: what GetObject would answer, without the content. */
export const headObject = async (deps: S3Deps, call: S3Call): Promise<Answer> =>
  headOf((await objectOf(deps, call)).object, call).answer;

/** The head of an answer, and the bytes that follow it; none when the client has them already. */
function headOf(object: ObjectRow, { request: { headers }, query }: S3Call) {
  if (query.has('partNumber'))
    throw s3Error('NotImplemented', 'Reading a part of an object by its number is not supported');
  const verdict = judgeRead(readConditions(headers), object);
  const described = {
    ...describingHeaders(object),
    ...(headers['x-amz-checksum-mode'] === undefined ? {} : checksumHeaders(object)),
  };
  if (verdict === 'failed') throw s3Error('PreconditionFailed');
  if (verdict === 'notModified') return { answer: emptyAnswer(304, described) };
  const { 'Content-Type': contentType = object.content_type, ...overriding } = overridingHeaders(query);
  const ifRange = meantRangeCondition(header(headers, 'if-range'), object.etag);
  const range = rangeOf({ range: headers.range, ifRange }, object.size, object);
  if (range === 'unsatisfiable') throw s3Error('InvalidRange', undefined, { size: object.size });
  const isWhole = range === 'whole';
  const span = isWhole ? { start: 0, end: object.size } : { start: range.start, end: range.end + 1 };
  const partial = isWhole ? {} : { 'Content-Range': `bytes ${span.start}-${span.end - 1}/${object.size}` };
  const lengths = { 'Content-Length': String(span.end - span.start), ...partial };
  const answer: Answer = {
    status: isWhole ? 200 : 206,
    contentType,
    headers: { ...described, ...lengths, ...overriding },
  };
  return { answer, span };
}

const header = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
};

/** The conditions of a read, or with a prefix those of the source of a copy. */
export const readConditions = (headers: IncomingHttpHeaders, prefix = ''): ConditionHeaders => ({
  ifMatch: meantCondition(header(headers, `${prefix}if-match`)),
  ifNoneMatch: meantCondition(header(headers, `${prefix}if-none-match`)),
  ifModifiedSince: header(headers, `${prefix}if-modified-since`),
  ifUnmodifiedSince: header(headers, `${prefix}if-unmodified-since`),
});

/** The conditions of a write. */
export const writeConditions = (headers: IncomingHttpHeaders): ConditionHeaders => ({
  ifMatch: meantCondition(header(headers, 'if-match')),
  ifNoneMatch: meantCondition(header(headers, 'if-none-match')),
});
