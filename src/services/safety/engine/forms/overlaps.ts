import { ordered } from '../../../../lib/ordered.ts';

interface Span {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly score: number;
  readonly isNamed: boolean;
}

/** The highest score first, then the longest, the leftmost, what its neighbours name, and by type. */
const rank = (a: Span, b: Span): number =>
  b.score - a.score ||
  b.end - b.start - (a.end - a.start) ||
  a.start - b.start ||
  Number(b.isNamed) - Number(a.isNamed) ||
  (a.type < b.type ? -1 : a.type > b.type ? 1 : 0);

/** Spans that are looked at between two pauses. */
const perSlice = 4_096;

/** Of spans that overlap only the best stay. Returns them by their start. */
export async function withoutOverlaps<Each extends Span>(
  spans: readonly Each[],
  pause: () => Promise<void>,
): Promise<Each[]> {
  const byStart = await ordered(spans, (a, b) => a.start - b.start, pause);
  const kept: Each[] = [];
  let due = perSlice;
  for (let from = 0; from < byStart.length;) {
    let end = byStart[from]!.end;
    let next = from + 1;
    while (next < byStart.length && byStart[next]!.start < end) end = Math.max(end, byStart[next++]!.end);
    if (next === from + 1) kept.push(byStart[from]!);
    else
      for (const one of await bestOf(byStart.slice(from, next), byStart[from]!.start, end, pause))
        kept.push(one);
    from = next;
    if (from < due) continue;
    due = from + perSlice;
    await pause();
  }
  return kept;
}

/** The best of a cluster. What is taken is marked character by character, which no chain of overlaps makes quadratic. */
async function bestOf<Each extends Span>(
  cluster: readonly Each[],
  first: number,
  end: number,
  pause: () => Promise<void>,
): Promise<Each[]> {
  const taken = new Uint8Array(end - first);
  const kept: Each[] = [];
  for (const [index, span] of (await ordered(cluster, rank, pause)).entries()) {
    if (index % perSlice === perSlice - 1) await pause();
    const place = taken.subarray(span.start - first, span.end - first);
    if (place.includes(1)) continue;
    place.fill(1);
    kept.push(span);
  }
  return ordered(kept, (a, b) => a.start - b.start, pause);
}
