import type { Segment } from '../segments.ts';

/** The segments when everything from an instant on is replaced: the one that contains the instant ends there. */
export function replacedFrom(
  segments: readonly Segment[],
  instant: number,
  rest: readonly Segment[],
): Segment[] {
  const before = segments.filter(({ start }) => start < instant);
  return [...before.map((one) => (one.end > instant ? { ...one, end: instant } : one)), ...rest];
}
