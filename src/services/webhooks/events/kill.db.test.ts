/** Tests that an event that was answered survives `kill -9` together with its deliveries. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Delivery, Event } from '../../../../generated/webhooks/types.ts';
import { type ChildServer, childServer } from '../../../testing/child-server.ts';
import { childDatabase, type ChildDatabase } from '../../../testing/database.ts';
import { until } from '../../../testing/until.ts';
import { tools } from '../testing.ts';

/** A service that is alone would have no prefix. */
const services = ['keys', 'webhooks'];

let db: ChildDatabase;
let server: ChildServer | undefined;
beforeAll(async () => {
  db = await childDatabase(services);
});
afterAll(async () => {
  await server?.kill('SIGKILL');
  await db.remove();
});

const start = () =>
  childServer({
    services,
    env: { PLINTH_CONTRACT: 'fast', PLINTH_WEBHOOKS_DISPATCH: 'off', ...db.env },
  });

/** Sends events one after the other until the server is gone. */
async function send(to: ChildServer, client: string, accepted: Map<string, string>): Promise<void> {
  for (let at = 0; ; at++) {
    const key = `${client}-${at}`;
    const body = { type: 'order.sent', idempotency_key: key, order_key: client, data: { at } };
    const answer = await to.request('POST', '/webhooks/events', { body }).catch(() => undefined);
    if (answer === undefined) return;
    expect([200, 201]).toContain(answer.status);
    accepted.set(key, (answer.body as Event).id);
  }
}

test('whatever was answered is stored with its deliveries', { timeout: 120_000 }, async () => {
  server = await start();
  let api = tools(server);
  await api.type('order.sent');
  const endpoints = await Promise.all(
    [true, false].map((ordered) => api.endpoint({ ordered, event_types: ['order.*'] })),
  );
  const accepted = new Map<string, string>();
  for (let round = 0; round < 3; round++) {
    const [running, before] = [server, accepted.size];
    const clients = Array.from({ length: 8 }, (_, at) => send(running, `${round}-${at}`, accepted));
    const enough = before + 20 + Math.floor(Math.random() * 200);
    await until(() => accepted.size >= enough);
    await running.kill('SIGKILL');
    await Promise.all(clients);
    server = await start();
    api = tools(server);
  }
  for (const [key, id] of [...accepted].slice(-50)) {
    expect(await api.event({ type: 'order.sent', idempotency_key: key })).toMatchObject({
      id,
      delivery_count: 2,
    });
    const deliveries = (await api.send('GET', `/events/${id}/deliveries`)) as Delivery[];
    expect(new Set(deliveries.map(({ endpoint_id }) => endpoint_id))).toEqual(
      new Set(endpoints.map((one) => one.id)),
    );
  }
  const listed = await listedEvents(api);
  expect([...accepted.values()].filter((id) => !listed.has(id))).toEqual([]);
  expect(await api.send('GET', '/stats')).toMatchObject({ deliveries: 2 * listed.size });
});

async function listedEvents(api: ReturnType<typeof tools>): Promise<Set<string>> {
  const found = new Set<string>();
  for (let offset = 0; ; offset += 100) {
    const page = (await api.send('GET', `/events?type=order.sent&limit=100&offset=${offset}`)) as Event[];
    for (const { id } of page) found.add(id);
    if (page.length < 100) return found;
  }
}
