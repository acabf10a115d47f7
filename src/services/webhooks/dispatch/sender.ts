import type { Outbound } from '../../../lib/outbound.ts';
import { Unreadable } from '../sealing.ts';
import type { Deps } from '../deps.ts';
import { attempt, type Attempt } from '../../../delivery/attempt.ts';
import type { Claimed, Target } from './claim.store.ts';
import { outcomeOf } from './outcomes.ts';
import { requestOf, type SignedRequest } from './request.ts';
import type { Ended } from './settler.ts';

export interface SenderDeps extends Pick<Deps, 'sealing' | 'settings' | 'log'> {
  readonly outbound: Pick<Outbound, 'stream'>;
}

/** Makes an attempt of a delivery and says what it means. It does not throw. */
export type Sender = (delivery: Claimed, target: Target) => Promise<Ended>;

export function createSender({ outbound, sealing, settings, log }: SenderDeps): Sender {
  /** @throws Unreadable when the master key is not the one under which the secrets were sealed */
  function signed(delivery: Claimed, data: string, target: Target): SignedRequest {
    const endpoint = { tenant_id: delivery.tenant_id, id: delivery.endpoint_id };
    const bytes = (base64: string) => Buffer.from(base64, 'base64');
    const { sealed_headers, headers } = target;
    return requestOf({
      event: {
        id: delivery.event_id,
        type: delivery.event_type,
        created_at: delivery.event_created_at!,
        data,
      },
      deliveryId: delivery.id,
      attempt: delivery.attempt_count + 1,
      format: target.payload_format,
      headers: {
        ...headers,
        ...(sealed_headers === null ? {} : sealing.openHeaders(endpoint, bytes(sealed_headers))),
      },
      secrets: target.boxes.map((box) => sealing.openSecret(endpoint, bytes(box))),
      seconds: Math.floor(Date.now() / 1_000),
    });
  }

  async function made(delivery: Claimed, target: Target): Promise<Attempt> {
    if (delivery.data === null) return unsent('expired');
    try {
      const request = signed(delivery, delivery.data, target);
      return await attempt(outbound, { ...request, url: target.url }, target.timeout_ms);
    } catch (error) {
      if (!(error instanceof Unreadable))
        log.error({ err: error, delivery: delivery.id }, 'a delivery could not be sent');
      return unsent(error instanceof Unreadable ? 'secret unreadable' : 'invalid response');
    }
  }

  return async (delivery, target) => {
    const one = await made(delivery, target);
    const attempted = { attempt: delivery.attempt_count + 1, maxAttempts: delivery.max_attempts };
    const outcome = outcomeOf(one.ending, attempted, settings, Date.now(), Math.random());
    return { delivery, target, attempt: one, outcome };
  };
}

const unsent = (problem: string): Attempt => ({
  ending: { problem },
  response: null,
  latencyMs: 0,
  startedAt: Date.now(),
});
