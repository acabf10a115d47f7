import type { Pagination } from '../../../generated/billing/types.ts';
import type { PageRequest } from './pages.store.ts';

/** The rows of a page, of which the store read one more, in the envelope of lists. */
export function pageOf<Row, Shown>(
  { limit, offset }: PageRequest,
  { rows, total }: { readonly rows: readonly Row[]; readonly total: number },
  show: (row: Row) => Shown,
): { data: Shown[]; pagination: Pagination } {
  return {
    data: rows.slice(0, limit).map(show),
    pagination: { total, limit, offset, has_more: rows.length > limit },
  };
}
