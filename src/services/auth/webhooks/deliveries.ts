import type { Clock } from '../../../db/clock.ts';
import type { DueRows, Engine } from '../../../db/engine/index.ts';
import type { Database, Log, Sql } from '../../../db/index.ts';
import type { Event, Written } from '../../../db/outbox.ts';
import type { Deliver } from '../../../db/write.ts';
import type { AttemptRequest } from '../../../delivery/attempt.ts';
import { afterEffect, type Breaker } from '../../../delivery/breaker.ts';
import { cloudEvent } from '../../../delivery/cloud-events.ts';
import { createDeliveryQueue, type Outcome } from '../../../delivery/delivery-queue.ts';
import { subscribersTo } from '../../../delivery/event-patterns.ts';
import { createSigner, type IssuedSecret, type Signer } from '../../../delivery/signer.ts';
import { newId } from '../../../lib/ids.ts';
import type { Outbound } from '../../../lib/outbound.ts';
import type { Sealer } from '../../../lib/seal.ts';
import { deliveryStore, type DueDelivery, type NewDelivery } from './deliveries.store.ts';
import { webhookStore, type Receiver } from './webhooks.store.ts';

/** Delivers events to webhooks. */
export interface Deliveries extends DueRows {
  /** Creates deliveries for the webhooks subscribed to these events of one app, in the transaction of the events. */
  readonly deliver: Deliver;
  /** Creates a secret with which deliveries to a webhook of the tenant are signed. */
  readonly newSecret: (tenant: string) => IssuedSecret;
}

interface DeliveriesDeps {
  readonly db: Database;
  readonly engine: Pick<Engine, 'dueRows'>;
  readonly outbound: Outbound;
  readonly log: Log;
  readonly clock: Clock;
  readonly sealer: Sealer;
}

/** The sealing purpose of webhook secrets. */
const webhookSecrets = 'auth/webhooks/v1';

export function createDeliveries({ db, engine, outbound, log, clock, sealer }: DeliveriesDeps): Deliveries {
  const signer = createSigner({ sealer, clock }, webhookSecrets);
  const queue = createDeliveryQueue<DueDelivery>({
    engine,
    outbound,
    log,
    name: 'auth_deliveries',
    claim: (count) => deliveryStore(db.sql).claim(count),
    request: (delivery) => requestOf(signer, delivery),
    settle: (delivery, outcome) => db.transaction((sql) => settle(sql, delivery, outcome)),
  });
  return {
    ...queue,
    newSecret: signer.issue,
    async deliver(sql, events, written) {
      const [{ tenant, app }] = events;
      const [ids, webhooks] = await Promise.all([written, webhookStore(sql).active(tenant, app)]);
      const made = events.flatMap((event, at) => {
        const complete = { ...event, ...ids[at]! };
        const subscribed = subscribersTo(event.type, webhooks);
        if (subscribed.length === 0) return [];
        const body = bodyOf(complete);
        return subscribed.map(({ id }) => newDelivery(complete, id, body));
      });
      if (made.length === 0) return;
      await deliveryStore(sql).insert(made);
      await queue.wake(sql);
    },
  };
}

/** The body of the deliveries of an event, which is the same at each attempt and for each webhook. */
export const bodyOf = (event: Event & Written): string => JSON.stringify(cloudEvent(event));

/** A delivery of an event to a webhook. */
export const newDelivery = (
  { tenant, id, type }: Event & Written,
  webhookId: string,
  body: string,
): NewDelivery => ({
  id: newId('whd'),
  tenant_id: tenant,
  webhook_id: webhookId,
  event_id: id,
  event: type,
  body,
});

/** The receiver sees the id of the event at each attempt, so that it can tell a repetition. */
function requestOf(
  signer: Signer,
  { tenant_id, event_id, url, body, secret_box, previous_secret_box }: DueDelivery,
): AttemptRequest {
  const boxes = previous_secret_box === null ? [secret_box] : [secret_box, previous_secret_box];
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Plinth-Webhooks/1.0',
    ...signer.headers(tenant_id, boxes, { id: event_id, body }),
  };
  return { url, headers, body };
}

/** Stores the outcome of an attempt. A webhook that wants no more deliveries, or has accepted none for days, is switched off. */
async function settle(sql: Sql, delivery: DueDelivery, outcome: Outcome): Promise<void> {
  const { tenant_id, webhook_id } = delivery;
  const hasSucceeded = outcome.state === 'delivered';
  const webhooks = webhookStore(sql);
  const receiver = await webhooks.lockReceiver(tenant_id, webhook_id, hasSucceeded);
  await deliveryStore(sql).settle(delivery, outcome);
  if (receiver === undefined) return;
  await webhooks.noteReceiver(tenant_id, webhook_id, receiverAfter(receiver, outcome), hasSucceeded);
  if (outcome.lane.isGone) await webhooks.switchOff(tenant_id, webhook_id, 'the receiver answered 410 Gone');
  else if (!hasSucceeded) await webhooks.switchOffDead(tenant_id, webhook_id);
}

/** A second success after a failure makes the receiver healthy. */
function receiverAfter(receiver: Receiver, { lane }: Outcome): Breaker {
  const after = afterEffect(receiver, lane, receiver.now, Math.random());
  const isHealthy = lane.sign === 'success' && receiver.breaker === 'closed';
  return isHealthy ? { ...after, openings: 0 } : after;
}
