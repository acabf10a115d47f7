const minute = 60_000;
const hour = 60 * minute;

/** How long nobody else takes up a payment that is being worked on: longer than a provider may take to answer. */
export const leaseMs = minute;

/** An open payment is given up after this long. Providers keep idempotency keys for at least as long, so no repeat charges twice. */
export const longestOpenMs = 24 * hour;

/** How soon an open payment is looked up first. */
const firstLookupMs = 10 * minute;

/**
 * When an open payment is looked at next: after ten minutes, then each time at twice its age, and when it is given up; hourly while even
 * that is not possible.
 *
 * @param createdAt and `now` in milliseconds
 */
export function nextCheck(createdAt: number, now: number): number {
  const age = Math.max(now - createdAt, firstLookupMs / 2);
  return age < longestOpenMs ? createdAt + Math.min(2 * age, longestOpenMs) : now + hour;
}
