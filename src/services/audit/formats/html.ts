import type { Report } from '../../../../generated/audit/types.ts';
import { type Markup, markup } from '../../../http/html.ts';
import { cellsOf, columns } from './columns.ts';
import { chainSentence, figuresOf, headingOf, omissions, sectionFiguresOf } from './summary.ts';

const style = `body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1a1a1a}
table{border-collapse:collapse;margin:1rem 0;display:block;overflow-x:auto}
th,td{border:1px solid #d0d0d0;padding:.25rem .5rem;text-align:left;vertical-align:top}
svg{width:100%;height:4rem}rect{fill:#4464ad}`;

const text = (content: Markup): string => content.toString();

/** A report as a page that loads and runs nothing. */
export function* htmlReport(report: Report): Generator<string> {
  const { title, period, generated_by, findings, sections, created_at } = report;
  yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">';
  yield '<meta name="viewport" content="width=device-width, initial-scale=1">';
  yield `${text(markup`<title>${title}</title>`)}<style>${style}</style></head>\n<body>\n`;
  yield text(markup`<h1>${title}</h1>
<p>${period.from} to ${period.to}, created ${created_at} for ${generated_by}</p>
`);
  yield* table(['', 'Count'], figuresOf(report));
  yield text(markup`<p>${chainSentence(report)}</p>
<h2>Findings</h2>
`);
  yield* table(
    ['Severity', 'Control', 'Finding', 'Count'],
    findings.map(({ severity, control, text, count }) => [severity, control, text, count]),
  );
  for (const section of sections) yield* sectionMarkup(section);
  yield '</body></html>\n';
}

function* sectionMarkup(section: Report['sections'][number]): Generator<string> {
  const { notes, top_actions, daily, events } = section;
  yield text(markup`<h2>${headingOf(section)}</h2>
<p>${notes}</p>
${bars(daily)}
<p>${omissions(section)}</p>
`);
  yield* table(['', 'Count'], sectionFiguresOf(section));
  yield* table(
    ['Action', 'Count'],
    top_actions.map(({ name, count }) => [name, count]),
  );
  yield* table(columns, events.map(cellsOf));
}

/** The numbers of events by day, as bars. */
function bars(daily: Report['sections'][number]['daily']): Markup | undefined {
  if (daily.length === 0) return undefined;
  const most = Math.max(...daily.map(({ count }) => count));
  const bar = ({ date, count }: (typeof daily)[number], at: number) => {
    const height = Math.max(1, Math.round((40 * count) / most));
    return markup`<rect x="${at * 3}" y="${40 - height}" width="2" height="${height}"><title>${date}: ${count}</title></rect>`;
  };
  return markup`<svg viewBox="0 0 ${daily.length * 3} 40" preserveAspectRatio="none" role="img" aria-label="Events by day">${daily.map(bar)}</svg>`;
}

/** Nothing when it has no rows. */
function* table(
  head: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): Generator<string> {
  if (rows.length === 0) return;
  yield text(markup`<table><thead><tr>${head.map((name) => markup`<th scope="col">${name}</th>`)}</tr></thead><tbody>
`);
  for (const row of rows)
    yield text(markup`<tr>${row.map((cell) => markup`<td>${cell ?? '–'}</td>`)}</tr>
`);
  yield '</tbody></table>\n';
}
