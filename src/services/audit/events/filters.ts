import { withinOf } from '../periods.ts';
import type { EventFilter } from './events.store.ts';
import type { Named } from './places.ts';

/** The filters of a list of events as they are sent. */
export interface SentFilter extends Named {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly category?: string | undefined;
  readonly action?: string | undefined;
  readonly severity?: string | undefined;
  readonly outcome?: string | undefined;
  readonly resource?: string | undefined;
}

/** @throws Invalid for a time that does not exist */
export const filterOf = (sent: SentFilter): EventFilter => ({
  ...withinOf(sent),
  categories: sent.category?.split(','),
  actions: sent.action?.split(','),
  severities: sent.severity?.split(','),
  outcomes: sent.outcome?.split(','),
  resource: sent.resource,
});
