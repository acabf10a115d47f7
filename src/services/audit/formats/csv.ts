import type { Report } from '../../../../generated/audit/types.ts';
import { csvLine } from '../../../lib/csv.ts';
import { cellsOf, columns } from './columns.ts';
import { omissions } from './summary.ts';

/** The events of a report as CSV, with the section of each in front. A section that does not show all of its events ends by saying so. */
export function* csvReport({ sections }: Report): Generator<string> {
  yield csvLine(['section', ...columns]);
  for (const section of sections) {
    for (const event of section.events) yield csvLine([section.title, ...cellsOf(event)]);
    const omitted = omissions(section);
    if (omitted !== '') yield csvLine([section.title, omitted, ...columns.slice(1).map(() => null)]);
  }
}
