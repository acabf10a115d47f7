import type { ReportFinding, VerifyReport } from '../../../../generated/audit/types.ts';
import type { Purged } from './purged.ts';
import type { StoredSection } from './reports.store.ts';

/** What findings are drawn from. */
export interface Facts {
  /** Null when there are too many events to verify them with the report. */
  readonly verification: VerifyReport | null;
  /** Whether anything was ever recorded. */
  readonly isKnown: boolean;
  readonly sections: readonly StoredSection[];
  /** Events of the period that the retention purged, and how many of them may have belonged to each section. */
  readonly purged: Pick<Purged, 'count' | 'isExact'> & { readonly ofSections: readonly number[] };
  readonly criticalEvents: number;
  /** For each person with many failed sign-ins within an hour, how many. */
  readonly failedSignIns: { readonly named: readonly number[]; readonly count: number };
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
    ...(facts.isKnown ? [] : [finding('warning', null, 'nothing was ever recorded for this tenant')]),
    ...ofPurged(facts.purged),
    ...facts.sections.flatMap((section, at) => ofSection(section, facts.purged.ofSections[at]!)),
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
  ...failedSignIns.named.map((most) =>
    finding('warning', signInControl, `${most} failed sign-ins of one person within an hour`),
  ),
  ...moreSignIns(failedSignIns.count - failedSignIns.named.length, signInControl),
];

const moreSignIns = (more: number, control: string | null): ReportFinding[] =>
  more > 0 ? [finding('warning', control, `many failed sign-ins of ${more} more persons`, more)] : [];

const ofPurged = ({ count, isExact }: Facts['purged']): ReportFinding[] =>
  count === 0
    ? []
    : [finding('info', null, `${isExact ? '' : 'up to '}${count} events of the period were purged`, count)];

/** That there was no evidence is said only where none was purged. */
function ofSection({ title, control, stats }: StoredSection, purged: number): ReportFinding[] {
  const { total, by_outcome } = stats;
  if (total === 0 && purged > 0)
    return [
      finding('info', control, `${title}: no evidence is left, up to ${purged} events were purged`, purged),
    ];
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
