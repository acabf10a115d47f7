import type { Context, Reply } from '../../../http/context.ts';
import type { Span } from '../bytes/blob-reader.ts';
import { type ConditionHeaders, judgeRead } from '../content/conditions.ts';
import { rangeOf } from '../content/range.ts';
import { ConditionFailed, RangeBeyond } from '../errors.ts';
import type { ObjectRow } from './objects.store.ts';
import { versionHeaders } from './responses.ts';

/** The conditions of a request. */
export interface Conditional {
  readonly 'If-Match'?: string | undefined;
  readonly 'If-None-Match'?: string | undefined;
  readonly 'If-Modified-Since'?: string | undefined;
  readonly 'If-Unmodified-Since'?: string | undefined;
}

export const conditionsOf = (request: Conditional): ConditionHeaders => ({
  ifMatch: request['If-Match'],
  ifNoneMatch: request['If-None-Match'],
  ifModifiedSince: request['If-Modified-Since'],
  ifUnmodifiedSince: request['If-Unmodified-Since'],
});

/** Whether the caller has this version already; then the response is a 304. */
export function isKnown(request: Conditional, object: ObjectRow, { reply }: Context): boolean {
  const verdict = judgeRead(conditionsOf(request), object);
  if (verdict === 'failed') throw ConditionFailed();
  if (verdict === 'proceed') return false;
  reply.status(304);
  versionHeaders(reply, object);
  return true;
}

interface Ranged {
  readonly Range?: string | undefined;
  readonly 'If-Range'?: string | undefined;
}

/** The bytes to send. */
export interface AskedSpan extends Span {
  /** Whether the request asks for a range, which may be as long as the whole. */
  readonly isRange: boolean;
}

export function spanOf(request: Ranged, object: ObjectRow): AskedSpan {
  const { size } = object;
  const range = rangeOf({ range: request.Range, ifRange: request['If-Range'] }, size, object);
  if (range === 'whole') return { start: 0, end: size, isRange: false };
  if (range === 'unsatisfiable') throw RangeBeyond(size);
  return { start: range.start, end: range.end + 1, isRange: true };
}

/** Sets the status of a range and says which one it is, once it is certain which version is sent. */
export function rangeHeaders(reply: Reply, { start, end, isRange }: AskedSpan, size: number): void {
  if (!isRange) return;
  reply.status(206);
  reply.header('Content-Range', `bytes ${start}-${end - 1}/${size}`);
}
