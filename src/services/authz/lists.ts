import type { Order } from '../../db/lists.ts';

/** Rows that one page of a list may examine before it ends short, so that a sparse filter does not read a whole table. */
export const mostExamined = 20_000;

/** The order of the lists that are newest first. An id contains the time at which it was made, and every index ends with it. */
export const newestIdFirst = { columns: { id: 'string' }, direction: 'desc' } as const satisfies Order;
