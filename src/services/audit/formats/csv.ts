import type { Report } from '../../../../generated/audit/types.ts';
import { csvLine } from '../../../lib/csv.ts';
import { cellsOf, columns } from './columns.ts';

/** The events of a report as CSV, with the section of each in front. */
export function* csvReport({ sections }: Report): Generator<string> {
  yield csvLine(['section', ...columns]);
  for (const { title, events } of sections)
    for (const event of events) yield csvLine([title, ...cellsOf(event)]);
}
