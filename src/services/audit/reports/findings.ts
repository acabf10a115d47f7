import type { ReportFinding, VerifyReport } from '../../../../generated/audit/types.ts';
import type { StoredSection } from './reports.store.ts';

/** What findings are drawn from. */
export interface Facts {
  /** Null when there are too many events to verify them with the report. */
  readonly verification: VerifyReport | null;
  readonly sections: readonly StoredSection[];
  readonly criticalEvents: number;
  /** For each person with many failed sign-ins within an hour, how many. */
  readonly failedSignIns: readonly number[];
  readonly signInControl: string | null;
  readonly quietDays: { readonly named: readonly string[]; readonly count: number };
}

/** The share of a section's events that may be denied. */
const mostDenied = 0.05;

/** What needs review in a report, the most severe first. */
export function findingsOf(facts: Facts): ReportFinding[] {
  const found = [
    ...ofChain(facts.verification),
    ...ofIncidents(facts),
    ...facts.sections.flatMap(ofSection),
    ...ofQuietDays(facts.quietDays),
  ];
  const rank = { critical: 0, warning: 1, info: 2 };
  return found.sort((a, b) => rank[a.severity] - rank[b.severity]);
}

const finding = (
  severity: ReportFinding['severity'],
  control: string | null,
  text: string,
  count = 1,
): ReportFinding => ({ severity, control, text, count });

function ofChain(verification: VerifyReport | null): ReportFinding[] {
  if (verification === null)
    return [
      finding(
        'info',
        null,
        'there are too many events to verify them with the report; verify the chain by itself',
      ),
    ];
  const { valid, gap_count, tampered_count } = verification;
  if (valid) return [];
  const text = `the chain is not intact: ${gap_count} events are missing, ${tampered_count} were changed`;
  return [finding('critical', null, text, gap_count + tampered_count)];
}

const ofIncidents = ({ criticalEvents, failedSignIns, signInControl }: Facts): ReportFinding[] => [
  ...(criticalEvents === 0
    ? []
    : [finding('critical', null, `${criticalEvents} critical events`, criticalEvents)]),
  ...failedSignIns.map((most) =>
    finding('warning', signInControl, `${most} failed sign-ins of one person within an hour`),
  ),
];

function ofSection({ title, control, stats }: StoredSection): ReportFinding[] {
  const { total, by_outcome } = stats;
  if (total === 0) return [finding('info', control, `${title}: no evidence`)];
  const { denied } = by_outcome;
  return denied > mostDenied * total
    ? [finding('warning', control, `${title}: ${denied} of ${total} events were denied`, denied)]
    : [];
}

function ofQuietDays({ named, count }: Facts['quietDays']): ReportFinding[] {
  const days = named.map((day) => finding('info', null, `no events on ${day}`));
  const more = count - named.length;
  return more > 0 ? [...days, finding('info', null, `no events on ${more} more days`, more)] : days;
}
