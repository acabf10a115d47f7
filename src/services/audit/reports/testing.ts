import type { AuditEvent, Report } from '../../../../generated/audit/types.ts';

type Section = Report['sections'][number];

const counts = (values: readonly string[], names: readonly string[] = []): Record<string, number> => {
  const found: Record<string, number> = Object.fromEntries(names.map((name) => [name, 0]));
  for (const value of values) found[value] = (found[value] ?? 0) + 1;
  return found;
};

/** A section as it must be, computed from the events that belong in it in the plainest way. */
export function sectionOf(events: readonly AuditEvent[]): Omit<Section, 'title' | 'control' | 'notes'> {
  const times = events.map(({ timestamp }) => timestamp).sort();
  const actions = Object.entries(counts(events.map(({ action }) => action)));
  const newest = [...events].sort((a, b) =>
    a.timestamp === b.timestamp ? b.sequence - a.sequence : a.timestamp < b.timestamp ? 1 : -1,
  );
  const isException = ({ severity, outcome }: AuditEvent) => severity !== 'info' || outcome !== 'success';
  return {
    stats: {
      total: events.length,
      by_outcome: counts(
        events.map(({ outcome }) => outcome),
        ['success', 'failure', 'denied'],
      ) as Section['stats']['by_outcome'],
      by_severity: counts(
        events.map(({ severity }) => severity),
        ['info', 'warning', 'critical'],
      ) as Section['stats']['by_severity'],
      persons: new Set(events.map(({ user_id }) => user_id).filter((user) => user !== null)).size,
      first_at: times[0] ?? null,
      last_at: times.at(-1) ?? null,
    },
    top_actions: actions
      .sort(([a, countOfA], [b, countOfB]) => countOfB - countOfA || (a < b ? -1 : 1))
      .slice(0, 10)
      .map(([name, count]) => ({ name, count })),
    daily: Object.entries(counts(times.map((time) => time.slice(0, 10)))).map(([date, count]) => ({
      date,
      count,
    })),
    events: [...newest.filter(isException), ...newest.filter((event) => !isException(event))],
    events_truncated: false,
    events_purged: 0,
  };
}
