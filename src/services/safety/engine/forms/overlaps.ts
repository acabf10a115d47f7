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

/** Of spans that overlap only the best stay. Returns them by their start. */
export function withoutOverlaps<Each extends Span>(spans: readonly Each[]): Each[] {
  const byStart = [...spans].sort((a, b) => a.start - b.start);
  const kept: Each[] = [];
  for (let from = 0; from < byStart.length;) {
    let end = byStart[from]!.end;
    let next = from + 1;
    while (next < byStart.length && byStart[next]!.start < end) end = Math.max(end, byStart[next++]!.end);
    if (next === from + 1) kept.push(byStart[from]!);
    else kept.push(...bestOf(byStart.slice(from, next), byStart[from]!.start, end));
    from = next;
  }
  return kept;
}

/** The best of a cluster. What is taken is marked character by character, which no chain of overlaps makes quadratic. */
function bestOf<Each extends Span>(cluster: readonly Each[], first: number, end: number): Each[] {
  const taken = new Uint8Array(end - first);
  const kept: Each[] = [];
  for (const span of [...cluster].sort(rank)) {
    const place = taken.subarray(span.start - first, span.end - first);
    if (place.includes(1)) continue;
    place.fill(1);
    kept.push(span);
  }
  return kept.sort((a, b) => a.start - b.start);
}
