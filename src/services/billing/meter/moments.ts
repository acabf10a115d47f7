import { parseMoment } from '../../../lib/moments.ts';

/**
 * Reads a time of a query, in milliseconds since 1970; a date stands for its midnight in UTC.
 * @throws Invalid for a time that does not exist
 */
export const momentOf = (text: string, field: string): number =>
  parseMoment(text.length === 10 ? `${text}T00:00:00Z` : text, field).ms;

/** Reads a time that may be absent. @throws Invalid for a time that does not exist */
export const momentIn = (text: string | undefined, field: string): number | undefined =>
  text === undefined ? undefined : momentOf(text, field);
