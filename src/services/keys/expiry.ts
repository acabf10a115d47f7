import { Invalid } from '../../lib/errors.ts';

/** @throws Invalid unless the moment is still to come. */
export function checkFuture(expiresAt: string): void {
  if (!(Date.parse(expiresAt) > Date.now())) throw Invalid('expires_at: must be in the future');
}

/** Whether two ends are the same moment; null is no end. */
export function isSameEnd(one: string | null, other: string | null): boolean {
  return one === null || other === null ? one === other : Date.parse(one) === Date.parse(other);
}

/** Whether a key lives longer with the first end than with the second. */
export function isLater(end: string | null, than: string | null): boolean {
  if (than === null) return false;
  return end === null || Date.parse(end) > Date.parse(than);
}
