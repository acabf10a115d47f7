const shortestMs = 1_000;
const longestMs = 24 * 3_600_000;

/**
 * The milliseconds for which a `Retry-After` header asks, in seconds or as an HTTP date, from a second to a day; undefined when it
 * asks for nothing understandable.
 * @param now milliseconds since 1970
 */
export function retryAfterMs(
  header: string | readonly string[] | undefined,
  now: number,
): number | undefined {
  if (typeof header !== 'string') return undefined;
  const text = header.trim();
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : text.endsWith(' GMT') ? Date.parse(text) - now : NaN;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, shortestMs), longestMs);
}
