const format = (month: 'long' | 'short') =>
  new Intl.DateTimeFormat('en-GB', { day: 'numeric', month, year: 'numeric', timeZone: 'UTC' });

const long = format('long');
const short = format('short');

/** The day of a timestamp in UTC: `15 January 2026`. */
export const dayOf = (timestamp: string): string => long.format(new Date(timestamp));

/** A period, named by the days of its start and its end: `15 Jan 2026 – 15 Feb 2026`. */
export const periodOf = ({
  period_start,
  period_end,
}: {
  period_start: string;
  period_end: string;
}): string => `${short.format(new Date(period_start))} – ${short.format(new Date(period_end))}`;
