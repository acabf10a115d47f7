import { momentText, parseMoment } from '../../lib/moments.ts';

/** A period in UTC with milliseconds, without its end. */
export interface Within {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/**
 * Reads a time of a query or a report; a date stands for its midnight in UTC.
 * @param field where it is in the request, for messages
 * @throws Invalid
 */
export const momentOf = (text: string, field: string): number =>
  parseMoment(text.length === 10 ? `${text}T00:00:00Z` : text, field).ms;

/** @throws Invalid for a time that does not exist */
export function withinOf({
  from,
  to,
}: {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}): Within {
  const utc = (text: string | undefined, name: string) =>
    text === undefined ? undefined : momentText(momentOf(text, name));
  return { from: utc(from, 'from'), to: utc(to, 'to') };
}
