const days = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});

/** The day of a timestamp in UTC: `15 January 2026`. */
export const dayOf = (timestamp: string): string => days.format(new Date(timestamp));

/** A period, named by the days of its start and its end. */
export const periodOf = ({
  period_start,
  period_end,
}: {
  period_start: string;
  period_end: string;
}): string => `${dayOf(period_start)} – ${dayOf(period_end)}`;
