import type { Pagination } from '../../../generated/billing/types.ts';
import type { PageRequest } from './pages.store.ts';

/** What a store has read of a list. */
interface Found<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
  /** Whether the page ended early, because its rows are large. */
  readonly isCut?: boolean;
}

/** The rows of a page, of which the store read one more, in the envelope of lists. */
export function pageOf<Row, Shown>(
  { limit, offset }: PageRequest,
  { rows, total, isCut = false }: Found<Row>,
  show: (row: Row) => Shown,
): { data: Shown[]; pagination: Pagination } {
  return {
    data: rows.slice(0, limit).map(show),
    pagination: { total, limit, offset, has_more: isCut || rows.length > limit },
  };
}
