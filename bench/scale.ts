/**
 * How large a run is: `BENCH_SCALE=0.05 npm run bench` tries every measurement within seconds, on less data and for
 * less time. What such a run prints says nothing about speed, so it is not written to the results.
 */
export const scale = Number(process.env['BENCH_SCALE'] || 1);
if (!(scale > 0 && scale <= 1)) throw new Error('BENCH_SCALE must be a number above 0 and at most 1');

/** So many of something, but no fewer than `least`. */
export const sized = (full: number, least = 1): number => Math.max(least, Math.round(full * scale));
