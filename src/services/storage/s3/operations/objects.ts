import type { IncomingHttpHeaders } from 'node:http';
import { type ConditionHeaders, judgeRead } from '../../content/conditions.ts';
import { rangeOf } from '../../content/range.ts';
import type { ObjectRow } from '../../objects/objects.store.ts';
import { s3Error } from '../protocol/errors.ts';
import { meantCondition, meantRangeCondition, shownTag, type Tagged } from '../protocol/tags.ts';
import { type Answer, emptyAnswer, objectIn, objectOf, type S3Call, type S3Deps, taggedOf } from './call.ts';
import { checksumHeaders, describingHeaders, overridingHeaders } from './fields.ts';

/** How often a read begins again because the object was replaced meanwhile. */
const mostAttempts = 5;

/** GetObject: the content, or a range of it. */
export async function getObject(deps: S3Deps, call: S3Call): Promise<Answer> {
  for (let attempt = 1; attempt <= mostAttempts; attempt++) {
    const found = await objectOf(deps, call);
    const head = headOf(found.object, await taggedOf(deps, call, found), call);
    const { span } = head;
    if (span === undefined) return head.answer;
    const body = await deps.shelf.read(call.author.tenant, found, span);
    if (body) return { ...head.answer, body, silenceMs: deps.settings.idleTimeoutMs };
  }
  throw s3Error('SlowDown', 'The object is being replaced');
}

/** HeadObject: what GetObject would answer, without the content. */
export async function headObject(deps: S3Deps, call: S3Call): Promise<Answer> {
  const found = await objectOf(deps, call);
  return headOf(found.object, await taggedOf(deps, call, found), call).answer;
}

/** The head of an answer, and the bytes that follow it; none when the client has them already. */
function headOf(object: ObjectRow, tagged: Tagged, { request: { headers }, query }: S3Call) {
  if (query.has('partNumber'))
    throw s3Error('NotImplemented', 'Reading a part of an object by its number is not supported');
  const verdict = judgeRead(readConditions(headers, tagged), object);
  const described = {
    ...describingHeaders(object, shownTag(tagged)),
    ...(headers['x-amz-checksum-mode'] === undefined ? {} : checksumHeaders(object)),
  };
  if (verdict === 'failed') throw s3Error('PreconditionFailed');
  if (verdict === 'notModified') return { answer: emptyAnswer(304, described) };
  const { 'Content-Type': contentType = object.content_type, ...overriding } = overridingHeaders(query);
  const ifRange = meantRangeCondition(header(headers, 'if-range'), tagged);
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
export const readConditions = (
  headers: IncomingHttpHeaders,
  tagged: Tagged,
  prefix = '',
): ConditionHeaders => ({
  ifMatch: meantCondition(header(headers, `${prefix}if-match`), tagged),
  ifNoneMatch: meantCondition(header(headers, `${prefix}if-none-match`), tagged),
  ifModifiedSince: header(headers, `${prefix}if-modified-since`),
  ifUnmodifiedSince: header(headers, `${prefix}if-unmodified-since`),
});

/**
 * The conditions of a write. A tag in them is that of the object that is there now; if another one takes its place before the write is
 * committed, the condition fails.
 */
export async function writeConditions(deps: S3Deps, call: S3Call): Promise<ConditionHeaders> {
  const { headers } = call.request;
  const [ifMatch, ifNoneMatch] = [header(headers, 'if-match'), header(headers, 'if-none-match')];
  const ifUnmodifiedSince = header(headers, 'if-unmodified-since');
  const named = [ifMatch, ifNoneMatch].some((one) => one !== undefined && one.trim() !== '*');
  if (!named) return { ifMatch, ifNoneMatch, ifUnmodifiedSince };
  const found = await objectIn(deps, call);
  const tagged = found.object && (await taggedOf(deps, call, found));
  const [match, noneMatch] = [meantCondition(ifMatch, tagged), meantCondition(ifNoneMatch, tagged)];
  return { ifMatch: match, ifNoneMatch: noneMatch, ifUnmodifiedSince };
}
