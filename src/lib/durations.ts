import { Invalid } from './errors.ts';

const units: Record<string, number> = {
  h: 3_600_000,
  m: 60_000,
  s: 1_000,
  ms: 1,
  us: 1e-3,
  µs: 1e-3,
  ns: 1e-6,
};
const whole = /^(?:\d{1,12}(?:\.\d{1,9})?(?:ms|us|µs|ns|h|m|s))+$/;
const parts = /(\d+(?:\.\d+)?)(ms|us|µs|ns|h|m|s)/g;

/**
 * Parses a Go-style duration to milliseconds: `720h`, `1h30m`, `1.5s`, `250ms`, `0s`. Durations are never negative and are
 * rounded to the millisecond. Throws `Invalid` with a message that begins with `field`.
 */
export function parseDuration(text: string, field = 'duration'): number {
  if (text === '0') return 0;
  if (text.length > 64 || !whole.test(text))
    throw Invalid(`${field}: must be a duration like 90s, 1h30m or 720h`);
  let milliseconds = 0;
  for (const [, amount, unit] of text.matchAll(parts))
    milliseconds += Number(amount) * (units[unit ?? ''] ?? NaN);
  if (!(milliseconds <= Number.MAX_SAFE_INTEGER)) throw Invalid(`${field}: is too long`);
  return Math.round(milliseconds);
}

/** Formats milliseconds as Go does, but omits zero units: 5400000 is `1h30m`, 1500 is `1.5s`, 250 is `250ms`, 0 is `0s`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 0 || !Number.isSafeInteger(milliseconds))
    throw new RangeError(`not a duration: ${milliseconds}`);
  if (milliseconds === 0) return '0s';
  const hours = Math.floor(milliseconds / 3_600_000);
  const minutes = Math.floor(milliseconds / 60_000) % 60;
  const rest = milliseconds % 60_000;
  const seconds = rest === 0 ? '' : rest < 1000 ? `${rest}ms` : `${rest / 1000}s`;
  return `${hours === 0 ? '' : `${hours}h`}${minutes === 0 ? '' : `${minutes}m`}${seconds}`;
}
