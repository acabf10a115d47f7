import { Invalid } from '../../lib/errors.ts';
import { latestMoment, momentText, parseMoment } from '../../lib/moments.ts';

/** A period in UTC with milliseconds, without its end. */
export interface Within {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/**
 * Reads a time of a query or a report; a date stands for its midnight in UTC. Events have whole milliseconds, so a time within one is
 * the next one: as the start and as the end of a period it then means what it says.
 * @param field where it is in the request, for messages
 * @throws Invalid
 */
export function momentOf(text: string, field: string): number {
  const { ms, cut } = parseMoment(text.length === 10 ? `${text}T00:00:00Z` : text, field);
  return cut ? Math.min(ms + 1, latestMoment) : ms;
}

/** @throws Invalid for a time that does not exist, or a period that ends before it begins */
export function withinOf({
  from,
  to,
}: {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}): Within {
  const begin = from === undefined ? undefined : momentOf(from, 'from');
  const end = to === undefined ? undefined : momentOf(to, 'to');
  if (begin !== undefined && end !== undefined && begin > end) throw Invalid('from: must not be after to');
  return {
    from: begin === undefined ? undefined : momentText(begin),
    to: end === undefined ? undefined : momentText(end),
  };
}
