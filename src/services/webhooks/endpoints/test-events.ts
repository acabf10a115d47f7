import type { Delivery, TestEvent } from '../../../../generated/webhooks/types.ts';
import { newId } from '../../../lib/ids.ts';
import { eventTypeStore } from '../catalogue/event-types.store.ts';
import type { Deps } from '../deps.ts';
import { newEventId } from '../event-ids.ts';
import { eventData } from '../catalogue/event-data.ts';
import { testEventStore } from './test-events.store.ts';

interface Owner {
  readonly tenant_id: string;
  readonly id: string;
}

/** Sends an event to this endpoint only, whatever it subscribes to and even while it is disabled. */
export async function sendTest(
  { db, dispatcher }: Pick<Deps, 'db' | 'dispatcher'>,
  { tenant_id, id }: Owner,
  app: string,
  { event_type = 'webhook.test', data }: Partial<TestEvent> = {},
): Promise<Delivery> {
  const example = async () => (await eventTypeStore(db.sql).find(app, event_type))?.example;
  const delivery = await testEventStore(db.sql).insert({
    ...{ tenant_id, endpoint_id: id, app_id: app, type: event_type },
    ...newEventId(),
    delivery_id: newId('del'),
    data: eventData(data ?? (await example()) ?? {}),
  });
  dispatcher.hint([id]);
  return delivery;
}
