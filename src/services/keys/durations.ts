import { formatDuration, parseDuration } from '../../lib/durations.ts';
import { Invalid } from '../../lib/errors.ts';

const hour = 3_600_000;

/** The shortest and longest value of each duration, as written. */
const bounds = {
  rate_window: ['1s', '720h'],
  grace_period: ['0s', '720h'],
  max_key_age: ['1h', '87600h'],
} as const;

/** Returns the canonical text of a duration. @throws Invalid when the text is not a duration or exceeds the bounds of `field` */
export function canonicalDuration(text: string, field: keyof typeof bounds): string {
  const [least, most] = bounds[field];
  const milliseconds = parseDuration(text, field);
  if (milliseconds < parseDuration(least) || milliseconds > parseDuration(most)) {
    throw Invalid(`${field}: must be from ${least} to ${most}`);
  }
  return formatDuration(milliseconds);
}

/** Does the same for an age, which must be whole hours. */
export function canonicalAge(text: string): string {
  const age = canonicalDuration(text, 'max_key_age');
  if (parseDuration(age) % hour !== 0) throw Invalid('max_key_age: must be whole hours');
  return age;
}
