import type { VerifyReport } from '../../../../generated/audit/types.ts';
import { NotFound } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import type { Deps } from '../deps.ts';
import { refOf } from '../keys/refs.ts';
import type { Within } from '../periods.ts';
import type { KnownStream } from '../streams/known-streams.ts';
import { verificationStore } from '../verification/verification.store.ts';
import { nothingVerified, verifyChain } from '../verification/verifier.ts';
import { findingsOf } from './findings.ts';
import { purgedIn, purgedOf } from './purged.ts';
import type { NewReport, StoredSection } from './reports.store.ts';
import { type Evidence, type ReportScope, type SectionNumbers, sectionStore } from './sections.store.ts';
import type { SectionPlan } from './standards.ts';

/** A report that is to be computed. */
export interface ReportPlan {
  readonly type: NewReport['type'];
  readonly title: string;
  readonly period: Readonly<Record<keyof Within, string>>;
  readonly generatedBy: string;
  readonly sections: readonly SectionPlan[];
  readonly signInControl: string | null;
  /** Only events about this resource. */
  readonly resourceId: string | undefined;
}

/** The events that a section and a whole report show at most, and the size of all of them. */
const shown = { most: 500, ofReport: 2_500, bytes: 2 * 1_024 * 1_024 } as const;
/** The most events that are verified with a report. */
const mostVerified = 1_000_000;
const mostQuietDays = 50;
const failedSignIns = { fewest: 10, persons: 100 } as const;

/** Computes a report from the events of its period, up to the end of the stream as it is now. */
export async function computed(
  deps: Pick<Deps, 'db' | 'sealer'>,
  stream: KnownStream,
  { period, resourceId, signInControl, generatedBy, ...plan }: ReportPlan,
): Promise<NewReport> {
  const sql = deps.db.sql;
  const store = sectionStore(sql);
  const end = await verificationStore(sql).end(stream);
  if (end === undefined) throw NotFound('stream');
  const { head_seq: headSeq, head_hash } = end;
  const resourceRef = resourceId === undefined ? undefined : refOf(stream.indexKey, 'resource', resourceId);
  const scope = { tenant: stream.tenant, app: stream.app, ...period, headSeq, resourceRef };
  const numbers = await store.numbers(scope, [...plan.sections, {}]);
  const all = numbers.at(-1)!;
  const count = plan.sections.length;
  const share = {
    most: Math.min(shown.most, Math.floor(shown.ofReport / count)),
    bytes: Math.floor(shown.bytes / count),
  };
  const sections: StoredSection[] = [];
  for (const [at, section] of plan.sections.entries())
    sections.push(
      sectionOf(section, numbers[at]!, await evidenceOf(store, scope, section, numbers[at]!, share)),
    );
  const purged = await purgedIn(store, scope);
  const range = joined(await store.range({ ...scope, resourceRef: undefined }), purged.range);
  const isLong = range !== undefined && range.to - range.from >= mostVerified;
  const verification = isLong ? null : await verified(deps, stream, range, head_hash);
  return {
    id: newId('report'),
    ...{ title: plan.title, type: plan.type, app_id: stream.app, tenant_id: stream.tenant },
    ...{ generated_by: generatedBy, period, sections, verification },
    stats: {
      total_events: all.total,
      critical_events: all.severities['critical'] ?? 0,
      failed_events: all.outcomes['failure'] ?? 0,
      denied_events: all.outcomes['denied'] ?? 0,
      purged_events: purged.count,
    },
    findings: findingsOf({
      verification,
      isKnown: headSeq > 0,
      sections,
      purged: { ...purged, ofSections: plan.sections.map(({ categories }) => purgedOf(purged, categories)) },
      criticalEvents: all.severities['critical'] ?? 0,
      failedSignIns: await store.failedSignIns(scope, failedSignIns.fewest, failedSignIns.persons),
      signInControl,
      quietDays:
        headSeq === 0 ? { named: [], count: 0 } : await store.quietDays(scope, purged.days, mostQuietDays),
    }),
  };
}

interface Numbers {
  readonly from: number;
  readonly to: number;
}

const joined = (one: Numbers | undefined, other: Numbers | undefined): Numbers | undefined =>
  one === undefined || other === undefined
    ? (one ?? other)
    : { from: Math.min(one.from, other.from), to: Math.max(one.to, other.to) };

const verified = async (
  deps: Pick<Deps, 'db' | 'sealer'>,
  stream: KnownStream,
  range: Numbers | undefined,
  head: Buffer,
): Promise<VerifyReport> =>
  range === undefined ? nothingVerified(stream.id, head) : (await verifyChain(deps, stream, range)).report;

/** The events that a section shows. Its numbers say between which moments they are, and whether there are any. */
async function evidenceOf(
  store: ReturnType<typeof sectionStore>,
  scope: ReportScope,
  plan: SectionPlan,
  { firstAt, lastAt }: SectionNumbers,
  share: { readonly most: number; readonly bytes: number },
): Promise<Evidence> {
  if (firstAt === null || lastAt === null) return { sequences: [], isCut: false };
  const to = new Date(Date.parse(lastAt) + 1).toISOString();
  return store.evidence({ ...scope, from: firstAt, to }, plan, share);
}

function sectionOf(
  plan: SectionPlan,
  numbers: SectionNumbers,
  { sequences, isCut }: Evidence,
): StoredSection {
  return {
    title: plan.title,
    control: plan.control,
    notes: plan.notes,
    stats: {
      total: numbers.total,
      by_outcome: { success: 0, failure: 0, denied: 0, ...numbers.outcomes },
      by_severity: { info: 0, warning: 0, critical: 0, ...numbers.severities },
      persons: numbers.persons,
      first_at: numbers.firstAt,
      last_at: numbers.lastAt,
    },
    top_actions: [...numbers.actions],
    daily: [...numbers.days],
    sequences,
    events_truncated: isCut,
  };
}
