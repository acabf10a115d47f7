import type { Reports } from '../../../../generated/audit/server.ts';
import type { CustomReportInput, Report, ReportInput } from '../../../../generated/audit/types.ts';
import type { Context } from '../../../http/context.ts';
import { answerPage, windowOf } from '../../../http/lists.ts';
import { viewOf } from '../../../http/view.ts';
import { Forbidden, Invalid, RateLimited } from '../../../lib/errors.ts';
import { momentText } from '../../../lib/moments.ts';
import type { Deps } from '../deps.ts';
import { eventStore } from '../events/events.store.ts';
import { eventViews } from '../events/views.ts';
import { csvReport } from '../formats/csv.ts';
import { htmlReport } from '../formats/html.ts';
import { markdownReport } from '../formats/markdown.ts';
import { piecesOf } from '../formats/pieces.ts';
import { newestById } from '../newest-by-id.ts';
import { momentOf } from '../periods.ts';
import { createPlaces } from '../places-at-once.ts';
import { checkReader } from '../reader.ts';
import { authorOf } from '../writes.ts';
import { computed, type ReportPlan } from './computing.ts';
import { reportStore, type StoredReport, type StoredSection } from './reports.store.ts';
import { type SectionPlan, type StandardName, standards } from './standards.ts';

/** The reports that a process computes at once. */
const mostAtOnce = 2;
const longestMs = 400 * 86_400_000;

type ReportDeps = Pick<Deps, 'db' | 'sealer' | 'known' | 'write'>;

/** Reports: evidence for auditors, computed from the events of a period. */
export const reports = (deps: ReportDeps) => {
  const { db } = deps;
  const places = createPlaces(mostAtOnce, () =>
    RateLimited('too many reports are running', { retryAfter: 1 }),
  );
  const made = (context: Context, body: ReportInput, plan: Plan) => {
    checkReader(context);
    return places.take(context.tenant, () => created(deps, context, body, plan));
  };
  const standard =
    (name: StandardName) => async (request: { body: ReportInput & { system?: string } }, context: Context) =>
      made(context, request.body, standardPlan(name, request.body.system));

  return {
    soc2: standard('soc2'),
    hipaa: standard('hipaa'),
    euaiact: standard('euaiact'),
    custom: async ({ body }, context) => made(context, body, customPlan(body)),

    async list({ tenant_id, ...request }, context) {
      const window = windowOf(request, newestById);
      return answerPage(
        context.reply,
        window,
        await reportStore(db.sql).list(viewOf(context, tenant_id), window),
      );
    },

    get: async ({ id }, context) => opened(deps, await reportStore(db.sql).get(viewOf(context), id)),

    async export({ id, format }, context) {
      const report = await opened(deps, await reportStore(db.sql).get(viewOf(context), id));
      const { reply } = context;
      reply.header('Content-Type', files[format].type);
      reply.header('Content-Disposition', `attachment; filename="${id}.${format}"`);
      reply.header('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'");
      return files[format].contentOf(report);
    },
  } satisfies Reports<Context>;
};

const files = {
  json: { type: 'application/json', contentOf: (report: Report) => report },
  csv: { type: 'text/csv; charset=utf-8', contentOf: (report: Report) => piecesOf(csvReport(report)) },
  markdown: {
    type: 'text/markdown; charset=utf-8',
    contentOf: (report: Report) => piecesOf(markdownReport(report)),
  },
  html: { type: 'text/html; charset=utf-8', contentOf: (report: Report) => piecesOf(htmlReport(report)) },
} as const;

type Plan = Pick<ReportPlan, 'type' | 'title' | 'sections' | 'signInControl' | 'resourceId'>;

function standardPlan(name: StandardName, system: string | undefined): Plan {
  const { title, sections, signInControl } = standards[name];
  return {
    type: name,
    title: system === undefined ? title : `${title}: ${system}`,
    sections,
    signInControl,
    resourceId: system,
  };
}

/** A section for each category, or one with everything. */
function customPlan({ title, categories = [] }: CustomReportInput): Plan {
  const section = (name: string): SectionPlan => ({ title: name, control: null, notes: '' });
  const given = [...new Set(categories)].map((category) => ({
    ...section(category),
    categories: [category],
  }));
  return {
    type: 'custom',
    title,
    sections: given.length === 0 ? [section('All events')] : given,
    signInControl: null,
    resourceId: undefined,
  };
}

async function created(
  deps: ReportDeps,
  context: Context,
  { period, app_id = context.app, tenant_id = context.tenant, generated_by }: ReportInput,
  plan: Plan,
): Promise<Report> {
  if (app_id !== context.app) throw Forbidden('app_id names another app');
  const [from, to] = [momentOf(period.from, 'period.from'), momentOf(period.to, 'period.to')];
  if (from >= to) throw Invalid('period.to: must be after from');
  if (to - from > longestMs) throw Invalid('period is longer than 400 days');
  const report = await computed(deps, await deps.known.of(tenant_id, context.app), {
    ...plan,
    period: { from: momentText(from), to: momentText(to) },
    generatedBy: generated_by ?? context.userId ?? context.actor,
  });
  const stored = await deps.write(authorOf(context, tenant_id), async ({ sql, act, emit }) => {
    const inserted = await reportStore(sql).insert(report);
    const { id, type } = inserted;
    await act({
      action: 'report.created',
      resource: 'report',
      resource_id: id,
      metadata: { type, period: report.period },
    });
    emit('audit.report.created', id, { report_id: id, type });
    return inserted;
  });
  context.reply.header('Cache-Control', 'no-store');
  return opened(deps, stored);
}

/** A report with its events as they can be read now. */
async function opened(deps: ReportDeps, report: StoredReport): Promise<Report> {
  const sections: Report['sections'] = [];
  for (const section of report.sections) sections.push(await openedSection(deps, report, section));
  return { ...report, sections };
}

async function openedSection(
  { db, sealer, known }: ReportDeps,
  { tenant_id, app_id }: StoredReport,
  { sequences, ...section }: StoredSection,
): Promise<Report['sections'][number]> {
  const stream = await known.of(tenant_id, app_id);
  const rows = sequences.length === 0 ? [] : await eventStore(db.sql).numbered(stream, sequences);
  const events = await eventViews(sealer, rows);
  const place = new Map(sequences.map((sequence, at) => [sequence, at]));
  events.sort((a, b) => place.get(a.sequence)! - place.get(b.sequence)!);
  return { ...section, events, events_purged: sequences.length - events.length };
}
