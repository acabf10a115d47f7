import type { Report } from '../../../../generated/audit/types.ts';
import { escapeMarkdown, markdownCell } from '../../../lib/markdown.ts';
import { cellsOf, columns } from './columns.ts';
import { chainSentence, figuresOf, headingOf, omissions, sectionFiguresOf } from './summary.ts';

/** A report as Markdown. */
export function* markdownReport(report: Report): Generator<string> {
  const { title, period, generated_by, findings, sections, created_at } = report;
  yield `# ${escapeMarkdown(title)}\n\n`;
  yield `${period.from} to ${period.to}, created ${created_at} for ${escapeMarkdown(generated_by)}\n\n`;
  yield* table(['', 'Count'], figuresOf(report));
  yield `${escapeMarkdown(chainSentence(report))}\n\n## Findings\n\n`;
  yield* table(
    ['Severity', 'Control', 'Finding', 'Count'],
    findings.map(({ severity, control, text, count }) => [severity, control, text, count]),
  );
  for (const section of sections) yield* sectionText(section);
}

function* sectionText(section: Report['sections'][number]): Generator<string> {
  const { notes, top_actions, daily, events } = section;
  yield `## ${escapeMarkdown(headingOf(section))}\n\n`;
  for (const paragraph of [notes, omissions(section)].filter((text) => text !== ''))
    yield `${escapeMarkdown(paragraph)}\n\n`;
  yield* table(['', 'Count'], sectionFiguresOf(section));
  yield* table(
    ['Action', 'Count'],
    top_actions.map(({ name, count }) => [name, count]),
  );
  yield* table(
    ['Day', 'Count'],
    daily.map(({ date, count }) => [date, count]),
  );
  yield* table(columns, events.map(cellsOf));
}

/** A table and the line after it; nothing when it has no rows. */
function* table(
  head: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): Generator<string> {
  if (rows.length === 0) return;
  yield line(head.map((name) => (name === '' ? ' ' : markdownCell(name))));
  yield line(head.map(() => '---'));
  for (const row of rows) yield line(row.map((cell) => markdownCell(String(cell ?? ''))));
  yield '\n';
}

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
