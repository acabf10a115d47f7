import type { Report } from '../../../../generated/audit/types.ts';
import type { Sql } from '../../../db/index.ts';
import { followsPrevious, onePage, type Window } from '../../../db/lists.ts';
import { isInView, type View } from '../../../db/view.ts';
import { NotFound } from '../../../lib/errors.ts';
import type { NewestById } from '../newest-by-id.ts';

/** A section as it is stored: of its events only the numbers, so that erasures and purges reach old reports too. */
export type StoredSection = Omit<Report['sections'][number], 'events' | 'events_purged'> & {
  readonly sequences: readonly number[];
};

/** A report as it is stored. */
export type StoredReport = Omit<Report, 'sections'> & { readonly sections: readonly StoredSection[] };

export type NewReport = Omit<StoredReport, 'created_at' | 'updated_at' | 'format'>;

/** Every statement about reports. */
export const reportStore = (sql: Sql) => ({
  async insert(report: NewReport): Promise<StoredReport> {
    const json = (value: unknown) => JSON.stringify(value);
    const [row] = await sql<[StoredReport]>`
      insert into audit.reports (
        tenant_id, id, app_id, title, type, generated_by, period_from, period_to, stats, findings, sections, verification
      )
      values (
        ${report.tenant_id}, ${report.id}, ${report.app_id}, ${report.title}, ${report.type}, ${report.generated_by},
        ${report.period.from}, ${report.period.to}, ${json(report.stats)}::text::jsonb, ${json(report.findings)}::text::jsonb,
        ${json(report.sections)}::text::jsonb,
        ${report.verification === null ? null : json(report.verification)}::text::jsonb
      )
      returning ${shown(sql)}, sections`;
    return row;
  },

  /** Lists them without their sections. */
  async list(view: View, window: Window<NewestById>): Promise<Report[]> {
    return await sql<Report[]>`
      select ${shown(sql)}, '[]'::jsonb as sections from audit.reports
      where ${isInView(sql, view)} ${followsPrevious(sql, window)} ${onePage(sql, window)}`;
  },

  /** @throws NotFound */
  async get(view: View, id: string): Promise<StoredReport> {
    const [row] = await sql<StoredReport[]>`
      select ${shown(sql)}, sections from audit.reports where id = ${id} and ${isInView(sql, view)}`;
    if (row === undefined) throw NotFound('report');
    return row;
  },
});

const shown = (sql: Sql) => sql`
  id, title, type, app_id, tenant_id, generated_by, jsonb_build_object(
    'from', to_char(period_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'to', to_char(period_to at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  ) as period,
  '{"purged_events": null}'::jsonb || stats as stats, findings, '{"remarks": []}'::jsonb || verification as verification, 'json' as format, created_at, updated_at`;
