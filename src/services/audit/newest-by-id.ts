import type { Order } from '../../db/lists.ts';

/** The order of this service's lists: ids sort by the millisecond in which they were made. */
export const newestById = { columns: { id: 'string' }, direction: 'desc' } as const satisfies Order;

export type NewestById = typeof newestById;
