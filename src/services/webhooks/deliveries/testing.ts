import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { DeadLetter, Delivery, IssuedEndpoint } from '../../../../generated/webhooks/types.ts';
import { testServer, type TestRequest, type TestServer } from '../../../testing/server.ts';
import { startReceiver, type Receiver } from '../dispatch/testing/receiver.ts';
import { tools } from '../testing.ts';

/** A server and a receiver for the tests of a file, with the events `invoice.paid` and `invoice.lost` registered. */
export function delivering(env: Readonly<Record<string, string>> = {}) {
  let server: TestServer;
  let receiver: Receiver;
  beforeAll(async () => {
    [server, receiver] = await Promise.all([testServer({ services: ['webhooks'], env }), startReceiver()]);
    await tools(server).type('invoice.paid');
    await tools(server).type('invoice.lost');
  });
  afterEach(() => receiver.answer(() => 200));
  afterAll(async () => {
    await receiver.close();
    await server.close();
  });
  const send = (method: string, path: string, options?: TestRequest) =>
    tools(server).send(method, path, options);

  return {
    get server() {
      return server;
    },
    get receiver() {
      return receiver;
    },
    get tools() {
      return tools(server);
    },
    /** Creates an endpoint that gets the events of the test, and not those of the platform about the endpoint itself. */
    endpoint: (body: object = {}, options: TestRequest = {}): Promise<IssuedEndpoint> =>
      tools(server).endpoint({ url: receiver.url, event_types: ['invoice.*'], ...body }, options),
    /** Sends an event, and waits until its delivery to this endpoint is in one of the states. */
    async delivered(endpoint: IssuedEndpoint, event: object, ...states: string[]): Promise<Delivery> {
      const tenant = endpoint.tenant_id;
      const { id } = await tools(server).event({ type: 'invoice.paid', ...event }, { tenant });
      const found = async (): Promise<Delivery> =>
        ((await send('GET', `/events/${id}/deliveries`, { tenant })) as Delivery[])[0]!;
      await expect.poll(async () => states.includes((await found()).state)).toBe(true);
      return await found();
    },
    /** Makes a dead letter of a new event. */
    async deadLetter(endpoint: IssuedEndpoint, event: object = {}): Promise<DeadLetter> {
      receiver.answer(() => 500);
      const { id } = await this.delivered(endpoint, event, 'failed');
      receiver.answer(() => 200);
      const letters = (await send('GET', '/dlq?limit=100', { tenant: endpoint.tenant_id })) as DeadLetter[];
      return letters.find(({ delivery_id }) => delivery_id === id)!;
    },
  };
}
