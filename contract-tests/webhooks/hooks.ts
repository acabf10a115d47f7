/**
 * Set-up for the tests of webhooks: event types, endpoints, events and dead letters, created through the SDK on the mock and on
 * the server.
 */
import { randomBytes } from 'node:crypto';
import { vi } from 'vitest';
import type { Delivery, Event, EventType, IssuedEndpoint } from '../../generated/webhooks/types.ts';
import type { Api, Credential } from '../harness.ts';

type Sender = Pick<Credential, 'plinth'>;

/** Well-formed ids that name nothing. */
export const absent = {
  type: 'nothing.of.this-name',
  endpoint: 'ep_01h455vb4pex5vsknk084sn0zz',
  event: 'evt_01h455vb4pex5vsknk084sn0zz',
  delivery: 'del_01h455vb4pex5vsknk084sn0zz',
  letter: 'dlq_01h455vb4pex5vsknk084sn0zz',
} as const;

/** Nobody listens at this address, so every attempt fails at once. */
export const deafUrl = 'http://127.0.0.1:2/plinth';

/** The frame's message about an `Idempotency-Key` that is repeated with another request. */
export const usedBefore = 'idempotency key was used with another body';

/** Data over the limit of an event. */
export const tooLarge = { text: 'x'.repeat(262_144) };

/** Each name is used once, because all tenants share the catalogue. */
export const newName = (): string => `contract.t${randomBytes(6).toString('hex')}`;

/** Registers an event type, as the operator. */
export const newType = async (api: Api, more: object = {}): Promise<EventType> =>
  await api.operator().plinth.webhooks.eventTypes.create({ body: { name: newName(), ...more } });

/** Creates an endpoint for all events. Nobody listens at its address. */
export const newEndpoint = async ({ plinth }: Sender, more: object = {}): Promise<IssuedEndpoint> =>
  await plinth.webhooks.endpoints.create({ body: { url: deafUrl, event_types: ['*'], ...more } });

export const send = async ({ plinth }: Sender, type: string, more: object = {}): Promise<Event> =>
  await plinth.webhooks.events.create({ body: { type, ...more } });

/** Sends an event to an endpoint whose attempts fail, and returns its delivery. */
export async function failing(api: Api, sender: Sender, more: object = {}): Promise<Delivery> {
  const { name } = await newType(api);
  await newEndpoint(sender, { event_types: [name], ...more });
  return await deliveryOf(sender, await send(sender, name));
}

/** Returns the delivery of an event once it has been attempted. */
export async function deliveryOf({ plinth }: Sender, { id }: Event): Promise<Delivery> {
  let delivery: Delivery | undefined;
  const attempted = async () => {
    [delivery] = await plinth.webhooks.events.deliveries({ id });
    return delivery?.last_error !== null;
  };
  await vi.waitUntil(attempted, { timeout: 10_000, interval: 20 });
  return delivery!;
}

/** Lets a delivery fail for good, and returns the id of its dead letter. */
export async function deadLetter(api: Api, sender: Sender): Promise<string> {
  const { endpoint_id } = await failing(api, sender, { max_attempts: 1 });
  return await letterOf(sender, endpoint_id);
}

/** Returns the newest dead letter of an endpoint, as soon as there is one. */
async function letterOf({ plinth }: Sender, endpoint_id: string): Promise<string> {
  let found: string | undefined;
  const exists = async () => {
    found = (await plinth.webhooks.dlq.list({ endpoint_id }))[0]?.id;
    return found !== undefined;
  };
  await vi.waitUntil(exists, { timeout: 50_000, interval: 20 });
  return found!;
}

/**
 * Creates one thing of every kind, none of which changes while the tests run, and returns their ids by kind. The endpoint has the
 * `uid` of the examples. Its only event is its own creation, because only the operator's app has event types besides the
 * platform's.
 */
export async function leaveHooks(sender: Sender): Promise<Record<string, string>> {
  const event_types = ['webhooks.endpoint.created'];
  const { id: ep } = await newEndpoint(sender, { uid: 'accounting', event_types, max_attempts: 1 });
  const letter = await letterOf(sender, ep);
  const { event_id: evt, delivery_id: del } = await sender.plinth.webhooks.dlq.get({ id: letter });
  return { ep, evt, del, 'webhooks:dlq': letter };
}
