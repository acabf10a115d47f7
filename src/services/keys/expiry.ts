import { Invalid } from '../../lib/errors.ts';

/** Checks a moment against the database's clock, `now`. @throws Invalid unless the moment is in the future */
export function checkFuture(expiresAt: string, now: number): void {
  if (!(Date.parse(expiresAt) > now)) throw Invalid('expires_at: must be in the future');
}

/** Whether two expiry times are the same moment. Null means no expiry. */
export function isSameEnd(one: string | null, other: string | null): boolean {
  return one === null || other === null ? one === other : Date.parse(one) === Date.parse(other);
}

/** Whether a key lives longer with the first expiry than with the second. */
export function isLater(end: string | null, than: string | null): boolean {
  if (than === null) return false;
  return end === null || Date.parse(end) > Date.parse(than);
}
