import { Invalid } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { earliestMoment, latestMoment, momentText, parseMoment } from '../../../lib/moments.ts';

export const hourMs = 3_600_000;

/** A period in milliseconds since the epoch: `from` is inside, `to` is not; undefined for no bound. */
export interface Period {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** Reads the bounds of a period; a date is its midnight in UTC. @throws Invalid for one that ends before it begins */
export function periodOf({ from, to }: { from?: string | undefined; to?: string | undefined }): Period {
  const period = { from: momentOf(from, 'from'), to: momentOf(to, 'to') };
  if (period.from !== undefined && period.to !== undefined && period.from > period.to)
    throw Invalid('from: must not be after to');
  return period;
}

function momentOf(text: string | undefined, field: string): number | undefined {
  if (text === undefined) return undefined;
  const { ms, cut } = parseMoment(text.length === 10 ? `${text}T00:00:00Z` : text, field);
  // Scans have milliseconds: one in the middle of a millisecond is at or after its end, or before it.
  return cut ? ms + 1 : ms;
}

const zeros = '0'.repeat(16);

/** The first id that a scan of this millisecond can have. */
export function firstIdAt(ms: number): string {
  const id = newId('scan', Math.max(0, Math.min(ms, latestIdMs)));
  return id.slice(0, -zeros.length) + zeros;
}

/** The latest millisecond of an id: 48 bits. */
const latestIdMs = 2 ** 48 - 1;

/** What statistics add up for a period: whole hours, and ranges of ids for its two ends. */
export interface Counted {
  readonly hours: readonly [from: string | null, to: string | null];
  readonly edges: readonly (readonly [from: string, to: string])[];
}

/**
 * Divides a period into whole hours and its two edges. An edge in an hour whose scans are older than `keptSince` is widened to that
 * hour, because only its counter is left.
 */
export function countedOf({ from, to }: Period, keptSince: number): Counted {
  const first = from === undefined ? undefined : firstWhole(from, keptSince);
  const end = to === undefined ? undefined : lastWhole(to, keptSince);
  if (from !== undefined && to !== undefined && first! > end!) {
    // Both bounds are in one hour whose scans are there.
    return { hours: [momentText(from), momentText(from)], edges: [[firstIdAt(from), firstIdAt(to)]] };
  }
  const edges: [string, string][] = [];
  if (from !== undefined && first! > from) edges.push([firstIdAt(from), firstIdAt(first!)]);
  if (to !== undefined && end! < to) edges.push([firstIdAt(end!), firstIdAt(to)]);
  return { hours: [hourText(first), hourText(end)], edges };
}

const hourText = (ms: number | undefined) =>
  ms === undefined ? null : momentText(Math.min(Math.max(ms, earliestMoment), latestMoment));

function firstWhole(ms: number, keptSince: number): number {
  const hour = hourOf(ms);
  return ms === hour || hour < keptSince ? hour : hour + hourMs;
}

function lastWhole(ms: number, keptSince: number): number {
  const hour = hourOf(ms);
  return ms !== hour && hour < keptSince ? hour + hourMs : hour;
}

/** The beginning of the hour. */
export const hourOf = (ms: number): number => Math.floor(ms / hourMs) * hourMs;
