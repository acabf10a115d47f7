import type { Order } from '../../db/lists.ts';

/** Ids begin with the time of their creation, so the newest record has the highest one. */
export const byId = { columns: { id: 'string' }, direction: 'desc' } as const satisfies Order;

export const byName = { columns: { name: 'string' }, direction: 'asc' } as const satisfies Order;
