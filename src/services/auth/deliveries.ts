import { dueWork, type DueWork } from '../../db/due-work.ts';
import type { Database, Sql } from '../../db/index.ts';
import type { Log } from '../../db/log.ts';
import type { Event, Written } from '../../db/outbox.ts';
import { periodic } from '../../db/periodic.ts';
import { newId } from '../../lib/ids.ts';
import { TargetRefused, type Outbound, type OutboundAnswer } from '../../lib/outbound.ts';
import type { Sealer } from '../../lib/seal.ts';
import { signatureHeaders } from '../../lib/standard-webhooks.ts';
import { cloudEvent } from './cloud-events.ts';
import { deliveryStore, type DueDelivery, type NewDelivery, type Outcome } from './deliveries.store.ts';
import { delayAfter, mostAttempts } from './delivery-schedule.ts';
import { selectorsOf } from './event-selectors.ts';
import { webhookStore } from './webhooks.store.ts';

/** Events on their way to webhooks. */
export interface Deliveries extends Pick<DueWork, 'wake' | 'start' | 'stop'> {
  /** Makes deliveries for the webhooks that want these events of one app, in the transaction of the events. */
  readonly deliver: (
    sql: Sql,
    events: readonly [Event, ...Event[]],
    written: Promise<readonly Written[]>,
  ) => Promise<void>;
}

interface DeliveriesDeps {
  readonly db: Database;
  readonly outbound: Outbound;
  readonly sealer: Sealer;
  readonly log: Log;
}

const timeoutMs = 15_000;
const mostAnswer = 16 * 1024;
const pruneBatch = 1_000;

/** What the secrets of webhooks are sealed for. */
export const webhookSecrets = 'auth/webhooks/v1';

export function createDeliveries({ db, outbound, sealer, log }: DeliveriesDeps): Deliveries {
  const work = dueWork<DueDelivery>({
    db,
    log,
    name: 'auth_deliveries',
    width: 16,
    pollMs: 1_000,
    claim: (count) => deliveryStore(db.sql).claim(count),
    run: attempt,
  });
  let pruning: { stop(): Promise<void> } | undefined;

  async function attempt(delivery: DueDelivery): Promise<void> {
    const outcome = await send(delivery);
    await db.transaction(async (sql) => {
      await deliveryStore(sql).settle(delivery, outcome);
      const { tenant_id, webhook_id } = delivery;
      if (outcome.state === 'delivered') await webhookStore(sql).noteSuccess(tenant_id, webhook_id);
      else if (outcome.statusCode === 410)
        await webhookStore(sql).switchOff(tenant_id, webhook_id, 'the receiver answered 410 Gone');
      else await webhookStore(sql).switchOffDead(tenant_id, webhook_id);
    });
  }

  async function send(delivery: DueDelivery): Promise<Outcome> {
    const { tenant_id, event_id, url, body, secret_box, previous_secret_box } = delivery;
    const boxes = previous_secret_box === null ? [secret_box] : [secret_box, previous_secret_box];
    const secrets = boxes.map((box) => sealer.open(webhookSecrets, tenant_id, box).toString());
    const seconds = Math.floor(Date.now() / 1000);
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Plinth-Webhooks/1.0',
      ...signatureHeaders(secrets, { id: event_id, seconds, body }),
    };
    try {
      const answer = await outbound.send({
        url,
        method: 'POST',
        headers,
        body,
        timeoutMs,
        maxBytes: mostAnswer,
      });
      return outcomeOf(delivery, answer);
    } catch (error) {
      return failed(delivery, {
        statusCode: null,
        error: wordsFor(error),
        final: error instanceof TargetRefused,
      });
    }
  }

  return {
    async deliver(sql, events, written) {
      const [{ tenant, app }] = events;
      const [ids, receivers] = await Promise.all([written, webhookStore(sql).active(tenant, app)]);
      if (receivers.length === 0) return;
      const made = events.flatMap((event, at) => {
        const selectors: string[] = selectorsOf(event.type);
        const complete = { ...event, ...ids[at]! };
        const body = JSON.stringify(cloudEvent(complete));
        return receivers
          .filter((webhook) => webhook.events.some((selector) => selectors.includes(selector)))
          .map((webhook) => newDelivery(complete, webhook.id, body));
      });
      if (made.length === 0) return;
      await deliveryStore(sql).insert(made);
      await work.wake(sql);
    },
    wake: work.wake,
    start() {
      work.start();
      pruning = periodic({
        db,
        log,
        name: 'auth.deliveries',
        everyMs: 3_600_000,
        run: async (signal) => {
          while (!signal.aborted && (await deliveryStore(db.sql).prune(pruneBatch)) === pruneBatch);
        },
      });
    },
    async stop() {
      await Promise.all([pruning?.stop(), work.stop()]);
    },
  };
}

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

function outcomeOf(delivery: DueDelivery, { status, headers }: OutboundAnswer): Outcome {
  if (status >= 200 && status < 300)
    return { state: 'delivered', statusCode: status, error: null, delay: null };
  const error = `the receiver answered ${status}`;
  const after = Number(headers['retry-after']);
  return failed(delivery, {
    statusCode: status,
    error,
    final: status === 410,
    retryAfter: Number.isFinite(after) ? after : undefined,
  });
}

function failed(
  { attempts }: DueDelivery,
  {
    statusCode,
    error,
    final,
    retryAfter,
  }: { statusCode: number | null; error: string; final: boolean; retryAfter?: number | undefined },
): Outcome {
  const failures = attempts + 1;
  const delay = final ? undefined : delayAfter(failures, retryAfter, Math.random());
  const over = delay === undefined || failures >= mostAttempts;
  return { state: over ? 'failed' : 'pending', statusCode, error, delay: over ? null : delay };
}

/** What went wrong on the way, without anything of the inside. */
function wordsFor(error: unknown): string {
  if (error instanceof TargetRefused) return error.message;
  if (!(error instanceof Error)) return 'no answer';
  if (error.name === 'TimeoutError') return 'no answer in time';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'no answer';
  // The guard's refusal arrives as the cause of a failed connection.
  if (error.cause instanceof TargetRefused) return error.cause.message;
  return code.slice(0, 500);
}
