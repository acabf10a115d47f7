import type { Report } from '../../../../generated/audit/types.ts';

type Section = Report['sections'][number];

/** The heading of a section: its title, with the control that it supports in front. */
export const headingOf = ({ control, title }: Section): string =>
  control === null ? title : `${control} ${title}`;

/** The numbers of a report for people, each with its name. */
export const figuresOf = ({ stats }: Report): (readonly [string, string | number])[] => [
  ['Events', stats.total_events],
  ['Critical', stats.critical_events],
  ['Failed', stats.failed_events],
  ['Denied', stats.denied_events],
  ['Purged', stats.purged_events ?? 'not counted'],
];

/** The numbers of a section for people, each with its name. */
export const sectionFiguresOf = ({ stats }: Section): (readonly [string, string | number])[] => [
  ['Events', stats.total],
  ...Object.entries(stats.by_outcome),
  ...Object.entries(stats.by_severity),
  ['Persons', stats.persons],
  ['First', stats.first_at ?? '–'],
  ['Last', stats.last_at ?? '–'],
];

/** What the verification of the events found, as a sentence. */
export function chainSentence({ verification }: Report): string {
  if (verification === null) return 'The chain was not verified with this report.';
  const { valid, verified, purged, first_event, last_event, gap_count, tampered_count } = verification;
  if (last_event === 0) return 'There were no events to verify.';
  return valid
    ? `The chain is intact: ${verified} events verified, from ${first_event} to ${last_event}, of which ${purged} were purged.`
    : `The chain is not intact: of the events from ${first_event} to ${last_event}, ${gap_count} are missing and ${tampered_count} were changed.`;
}

/** What a section does not show of its events, as a sentence; empty when it shows all. */
export function omissions({ events, events_truncated, events_purged, stats }: Section): string {
  const purged = events_purged === 0 ? [] : [`${events_purged} were purged since.`];
  return events_truncated || events_purged > 0
    ? [`Shows ${events.length} of ${stats.total} events.`, ...purged].join(' ')
    : '';
}
