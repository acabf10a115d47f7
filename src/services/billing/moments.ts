import { parseMoment } from '../../lib/moments.ts';

/** A time of a query, which may be a date and then means its midnight in UTC, in milliseconds since 1970. @throws Invalid */
export const instantOf = (text: string | undefined, field: string): number | undefined =>
  text === undefined ? undefined : parseMoment(text.length === 10 ? `${text}T00:00:00Z` : text, field).ms;
