/** Deliveries as one would build them from a job queue: one job per event, which signs the event and posts it with undici. */
import { Agent, request } from 'undici';
import { signatureHeaders, newWebhookSecret } from '../../src/lib/standard-webhooks.ts';
import type { Handler, Payload, Peer } from '../jobs/peers/peer.ts';
import { payload } from './moments.ts';
import { slots } from './service.ts';

const secrets = [newWebhookSecret()];

/** The payload of the job for an event. */
interface Job extends Payload {
  readonly url: string;
  readonly data: object;
}

const agent = new Agent({ connections: slots });

/** Signs an event and posts it. */
export async function post(url: string, data: object, id: string): Promise<void> {
  const body = JSON.stringify({ type: 'invoice.paid', timestamp: new Date().toISOString(), data });
  const seconds = Math.floor(Date.now() / 1_000);
  const headers = { 'content-type': 'application/json', ...signatureHeaders(secrets, { id, seconds, body }) };
  const answer = await request(url, { method: 'POST', headers, body, dispatcher: agent });
  await answer.body.dump();
  if (answer.statusCode !== 200) throw new Error(`the receiver answered ${answer.statusCode}`);
}

/** Adds the job of an event. */
export const enqueue = (peer: Peer, url: string, nth: number): Promise<unknown> =>
  Promise.resolve(peer.add({ nth, url, data: payload() } as Job));

/** Executes the job of an event. */
export const deliver: Handler = (job) => {
  const { nth, url, data } = job as Job;
  return post(url, data, `evt_${nth}`);
};
