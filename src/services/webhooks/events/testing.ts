import { afterAll, beforeAll } from 'vitest';
import type { Delivery, Event, EventBatchResult } from '../../../../generated/webhooks/types.ts';
import { testServer, type TestRequest, type TestResponse, type TestServer } from '../../../testing/server.ts';
import { isPlatformType } from '../catalogue/platform-types.ts';
import { tools } from '../testing.ts';

/** A server for the tests of a file that accepts events and delivers none, with the type `invoice.paid` registered. */
export function accepting() {
  let server: TestServer;
  let tenants = 0;
  beforeAll(async () => {
    server = await testServer({ services: ['webhooks'], env: { PLINTH_WEBHOOKS_DISPATCH: 'off' } });
    await tools(server).type('invoice.paid');
  });
  afterAll(() => server.close());
  const send = (method: string, path: string, options?: TestRequest) =>
    tools(server).send(method, path, options) as Promise<unknown>;

  return {
    get server() {
      return server;
    },
    get api() {
      return tools(server);
    },
    /** A tenant without events and endpoints. */
    newTenant: () => `tenant-${tenants++}`,
    /** Sends an event, which may be refused. */
    post: (body: unknown, options: TestRequest = {}): Promise<TestResponse> =>
      server.request('POST', '/webhooks/events', { ...options, body }),
    batch: async (events: object[], options: TestRequest = {}): Promise<EventBatchResult['results']> => {
      const answer = await send('POST', '/events/batch', { ...options, body: { events } });
      return (answer as EventBatchResult).results;
    },
    /** How many events of a tenant, at most 100, and deliveries of them are stored; what the platform itself sends does not count. */
    stored: async (tenant: string): Promise<{ events: number; deliveries: number }> => {
      const events = (await send('GET', '/events?limit=100', { tenant })) as Event[];
      const deliveries = (await send('GET', '/deliveries?limit=100', { tenant })) as Delivery[];
      const isOurs = (type: string) => !isPlatformType(type);
      return {
        events: events.filter(({ type }) => isOurs(type)).length,
        deliveries: deliveries.filter(({ event_type }) => isOurs(event_type)).length,
      };
    },
  };
}
