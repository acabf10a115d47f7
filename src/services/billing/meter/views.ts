import { Big } from 'big.js';
import type { UsageEvent, UsageEventResult } from '../../../../generated/billing/types.ts';
import type { DomainError } from '../../../lib/errors.ts';
import { Refused } from '../errors.ts';
import { shownQuantity } from '../money/quantities.ts';
import type { UsageRow } from './events.store.ts';
import { isIdentical } from './judgement.ts';
import type { NewUsage } from './new-usage.ts';

/** An event as responses show it. */
export const shownEvent = (row: UsageRow): UsageEvent => ({
  id: row.id,
  tenant_id: row.tenant_id,
  app_id: row.app_id,
  feature_key: row.feature_key,
  quantity: shownQuantity(new Big(row.quantity)),
  idempotency_key: row.idempotency_key,
  metadata: row.metadata,
  status: row.status,
  timestamp: row.happened_at,
  accepted_at: row.accepted_at,
  subscription_id: row.subscription_id,
  period_start: row.period_start,
  void_reason: row.void_reason,
});

/** The refusal of an event whose key another one has. */
export const duplicateEvent = (event: NewUsage, stored: UsageRow): DomainError =>
  Refused('duplicate_event', 'idempotency_key: an event with it is already stored', {
    kind: 'conflict',
    about: {
      event_id: stored.id,
      identical: isRepeat(event, stored),
    },
  });

/** Whether an event has the content of the stored one with its key. */
export const isRepeat = (event: NewUsage, stored: UsageRow): boolean =>
  isIdentical(
    { ...event, metadata: JSON.parse(event.metadata), sentTimestamp: timeOf(event.sentTimestamp) },
    {
      featureKey: stored.feature_key,
      quantity: new Big(stored.quantity).toFixed(),
      metadata: stored.metadata,
      sentTimestamp: timeOf(stored.sent_timestamp),
    },
  );

const timeOf = (text: string | null): number | null => (text === null ? null : Date.parse(text));

/** The outcome of an event of a batch. `stored` is the event that is stored for it, and unknown if it is the event itself. */
export const outcomeOf = (event: NewUsage, stored: UsageRow | undefined): UsageEventResult =>
  stored === undefined || stored.id === event.id
    ? { id: event.id, status: 'buffered', identical: null, error: null }
    : { id: stored.id, status: 'duplicate', identical: isRepeat(event, stored), error: null };
