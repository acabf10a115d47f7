/**
 * The size of a run: `BENCH_SCALE=0.05 npm run bench` tries every measurement within seconds, with less data and time. Such a
 * run says nothing about speed, so its results are not written.
 */
export const scale = Number(process.env['BENCH_SCALE'] || 1);
if (!(scale > 0 && scale <= 1)) throw new Error('BENCH_SCALE must be a number above 0 and at most 1');

/** Returns a scaled number, but at least `least`. */
export const sized = (full: number, least = 1): number => Math.max(least, Math.round(full * scale));
