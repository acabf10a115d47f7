import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { vi } from 'vitest';
import type { Delivery, IssuedWebhook, Webhook } from '../../../../generated/auth/types.ts';
import type { TestServer } from '../../../testing/server.ts';
import { tools } from './index.ts';

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const receivers: Server[] = [];

/** A receiver on its own socket that responds with these statuses in turn, and then always with the last one. */
export async function receiver(...statuses: number[]) {
  const received: Received[] = [];
  const listening = createServer((req, res) => {
    let body = '';
    req.on('data', (piece: Buffer) => (body += piece.toString()));
    req.on('end', () => {
      received.push({ headers: req.headers, body });
      const status = (statuses.length > 1 ? statuses.shift() : statuses[0]) ?? 200;
      res.writeHead(status, status === 302 ? { location: 'http://127.0.0.1:1/' } : {}).end('thanks');
    });
  }).listen(0, '127.0.0.1');
  await once(listening, 'listening');
  receivers.push(listening);
  return { url: `http://127.0.0.1:${(listening.address() as AddressInfo).port}/hooks`, received };
}

/** A receiver that never answers, and the number of requests that it has. */
export async function hangingReceiver() {
  let requests = 0;
  const listening = createServer((request) => {
    requests += 1;
    request.resume();
  }).listen(0, '127.0.0.1');
  await once(listening, 'listening');
  receivers.push(listening);
  const { port } = listening.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hooks`, requests: () => requests };
}

/** Closes all receivers of the test file. */
export function closeReceivers(): void {
  for (const listening of receivers.splice(0)) {
    listening.closeAllConnections();
    listening.close();
  }
}

/** Helpers for the tests of webhooks. @param at returns the server once it runs */
export function webhookTools(at: () => TestServer) {
  const api = () => tools(at());
  return {
    create: (body: object): Promise<IssuedWebhook> => api().send('POST', '/webhooks', { body }),
    test: ({ id }: Pick<Webhook, 'id'>): Promise<Delivery> => api().send('POST', `/webhooks/${id}/test`),
    get: (id: string): Promise<Webhook> => api().send('GET', `/webhooks/${id}`),
    /** The newest delivery, once `done` accepts it. */
    delivery: (webhook: Pick<Webhook, 'id'>, done: (found: Delivery) => boolean): Promise<Delivery> =>
      vi.waitFor(
        async () => {
          const { deliveries } = (await api().send('GET', `/webhooks/${webhook.id}/deliveries`)) as {
            deliveries: Delivery[];
          };
          const [newest] = deliveries;
          if (!newest || !done(newest)) throw new Error(`not yet: ${JSON.stringify(newest)}`);
          return newest;
        },
        { timeout: 20_000, interval: 20 },
      ),
    /** Makes pending deliveries due now. */
    hurry: () => at().db.sql`
      update auth.deliveries set next_attempt_at = now() - interval '1 second' where state = 'pending'`,
  };
}
