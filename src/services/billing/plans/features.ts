import type { Feature } from '../../../../generated/billing/types.ts';

/** Whether the count of a feature restarts each month. */
export const isRestarting = ({ type, period }: Pick<Feature, 'type' | 'period'>): boolean =>
  type === 'metered' && period === 'monthly';
