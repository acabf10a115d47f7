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
});

/** The refusal of an event whose key another one has. */
export const duplicateEvent = (event: NewUsage, stored: UsageRow): DomainError =>
  Refused('duplicate_event', 'idempotency_key: an event with it is already stored', {
    kind: 'conflict',
    about: {
      event_id: stored.id,
      identical: isIdentical(
        { ...event, metadata: JSON.parse(event.metadata), sentTimestamp: timeOf(event.sentTimestamp) },
        {
          featureKey: stored.feature_key,
          quantity: new Big(stored.quantity).toFixed(),
          metadata: stored.metadata,
          sentTimestamp: timeOf(stored.sent_timestamp),
        },
      ),
    },
  });

const timeOf = (text: string | null): number | null => (text === null ? null : Date.parse(text));

/** The outcome of an event of a batch, by the id of what is stored for it. */
export const outcomeOf = ({ id }: NewUsage, storedId: string): UsageEventResult => ({
  id: storedId,
  status: storedId === id ? 'buffered' : 'duplicate',
  error: null,
});
