import type { VerifyReport } from '../../../../generated/audit/types.ts';
import type { Deps } from '../deps.ts';
import type { KnownStream } from '../streams/known-streams.ts';
import { noHash } from '../record/record.ts';
import { inSlices } from '../../../lib/slices.ts';
import { ChainCheck } from './chain-check.ts';
import { PartCheck } from './part-check.ts';
import { falseRuns } from './run-check.ts';
import { type LinkRow, verificationStore } from './verification.store.ts';

export type VerifierDeps = Pick<Deps, 'db' | 'sealer'>;

/** The part of a chain to verify; 0 means its first or its last event. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** A stream to verify. Its index key is undefined when nobody can open it. */
export type VerifiedStream = Omit<KnownStream, 'indexKey'> & Partial<Pick<KnownStream, 'indexKey'>>;

export interface Verified {
  readonly report: VerifyReport;
  /** How many of the gaps are beyond the head: that there was something is only what the one who asks says. */
  readonly beyond: number;
}

/** The rows of one statement: fewer when their parts are large, of which the database computes the digests without a pause. */
const [firstRows, fewestRows, mostRows] = [200, 50, 2_000];
/** The most remarks of each kind in a report. */
export const mostRemarks = 10;
const bytesOfPage = 2 * 1_024 * 1_024;

/**
 * Verifies a chain page by page, in constant memory and without a transaction: rows up to the head do not change, but for erasures and
 * purges, which leave the hashes alone; what a page lacks is looked up once more.
 */
export async function verifyChain(
  deps: VerifierDeps,
  stream: VerifiedStream,
  range: Range,
): Promise<Verified> {
  const store = verificationStore(deps.db.sql);
  const end = await store.end(stream);
  if (end === undefined) return { report: notVerified(stream.id), beyond: 0 };
  const from = Math.max(1, range.from);
  // Whoever names a number knows of an event with it: beyond the head it is missing.
  const to = range.to === 0 ? Math.max(end.head_seq, range.from) : range.to;
  const before = from === 1 ? noHash : await store.hash(stream, from - 1);
  const check = new ChainCheck(from, before);
  // Nor can the first event be verified without the one before.
  if (before === undefined && from - 1 <= end.head_seq) check.gaps.add(from - 1);
  const parts = new PartCheck(deps, stream);
  for (let next = from, most = firstRows; next <= to;) {
    const rows = await store.links(stream, next, to, most);
    if (rows.length === 0) break;
    await inSlices(rows, (row) => check.add(row));
    const misleading = await parts.add(rows);
    if (misleading.length > 0) check.refute(misleading, misleading.length);
    most = rowsAfter(rows);
    next = rows.at(-1)!.sequence + 1;
  }
  check.end(to);
  if (to >= end.head_seq) checkEnd(check, end, to);
  for (const { sequences, count } of await falseRuns(deps, stream, check.runs, { from, to }))
    check.refute(sequences, count);
  const remarks = [...parts.remarks().slice(0, mostRemarks)];
  if (from === 1 && end.first_row < 1)
    remarks.push(`rows are numbered from ${end.first_row}, before the first event: somebody added them`);
  if (stream.indexKey === undefined)
    remarks.push(`the index key of ${stream.id} cannot be opened: what tells of purged events is not found`);
  const report = reportOf(check, parts, stream.id, { from, to }, { head: end.head_hash, remarks });
  return { report, beyond: Math.max(0, to - Math.max(end.head_seq, from - 1)) };
}

/** How many rows the next statement may read, if they are like these. */
function rowsAfter(rows: readonly LinkRow[]): number {
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 1);
  return Math.max(fewestRows, Math.min(mostRows, Math.floor((bytesOfPage * rows.length) / bytes)));
}

/** The last row is the head; what stands behind it was added by somebody else. */
function checkEnd(
  { last, tampered }: ChainCheck,
  { head_seq, head_hash, last_row }: { head_seq: number; head_hash: Buffer; last_row: number },
  to: number,
): void {
  const isHead = last?.sequence === head_seq && !last.hash.equals(head_hash);
  if (isHead && tampered.named.at(-1) !== head_seq) tampered.add(head_seq);
  if (last_row > head_seq && last_row > to) tampered.add(Math.max(head_seq, to) + 1, last_row);
}

function reportOf(
  check: ChainCheck,
  parts: PartCheck,
  stream_id: string,
  { from, to }: { readonly from: number; readonly to: number },
  { head, remarks }: { readonly head: Buffer; readonly remarks: string[] },
): VerifyReport {
  const { gaps, tampered, purged } = check;
  const { unreadable, erased } = parts;
  const isEmpty = to < from;
  return {
    valid: gaps.count + tampered.count + unreadable.count + remarks.length === 0,
    verified: check.verified,
    gaps: gaps.named,
    tampered: tampered.named,
    first_event: isEmpty ? 0 : from,
    last_event: isEmpty ? 0 : to,
    stream_id,
    purged,
    erased,
    unreadable: unreadable.count,
    unreadable_events: unreadable.named,
    gap_count: gaps.count,
    tampered_count: tampered.count,
    head_hash: head.toString('hex'),
    remarks,
  };
}

/** The report on a stream that cannot be verified: nobody knows whether something is missing. */
export const notVerified = (removed: string | null = null): VerifyReport => ({
  ...nothingVerified(removed, noHash),
  valid: false,
  remarks: [
    removed === null
      ? 'nothing was ever recorded for this tenant and app'
      : `the row of ${removed} is missing: where its events ended is not known`,
  ],
});

/** The report of a verification that found no event. */
export const nothingVerified = (stream_id: string | null, head: Buffer): VerifyReport => ({
  valid: true,
  verified: 0,
  gaps: [],
  tampered: [],
  first_event: 0,
  last_event: 0,
  stream_id,
  purged: 0,
  erased: 0,
  unreadable: 0,
  unreadable_events: [],
  gap_count: 0,
  tampered_count: 0,
  head_hash: head.toString('hex'),
  remarks: [],
});
