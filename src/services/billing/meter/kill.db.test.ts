/** Tests that an event that was answered survives `kill -9`, counted once, and that sending everything again changes nothing. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ChildServer, childServer } from '../../../testing/child-server.ts';
import { childDatabase, type ChildDatabase } from '../../../testing/database.ts';
import { until } from '../../../testing/until.ts';
import { subscribed, sumsOf, within } from './testing.ts';

/** A service that is alone would have no prefix. */
const services = ['keys', 'billing'];
const own = { tenant: 'killed' };

let db: ChildDatabase;
let server: ChildServer | undefined;
beforeAll(async () => {
  db = await childDatabase(services);
  await within(db, (sql) => subscribed(sql, { tenant: own.tenant, at: Date.now() - 86_400_000 }));
});
afterAll(async () => {
  await server?.kill('SIGKILL');
  await db.remove();
});

const start = () => childServer({ services, env: { PLINTH_CONTRACT: 'fast', ...db.env } });
const post = (to: ChildServer, body: object) =>
  to.request('POST', '/billing/billing/meter/events', { ...own, body });

/** Records events one after the other until the server is gone; every second one has a key. */
async function record(to: ChildServer, client: string, sent: object[], accepted: Set<string>): Promise<void> {
  for (let at = 0; ; at++) {
    const key = at % 2 === 0 ? { idempotency_key: `${client}-${at}` } : {};
    const body = { feature_key: 'calls', quantity: 1, ...key };
    sent.push(body);
    const answer = await post(to, body).catch(() => undefined);
    if (answer === undefined) return;
    expect(answer.status).toBe(202);
    accepted.add(answer.body.id as string);
  }
}

test('whatever was answered is stored and counted once', { timeout: 180_000 }, async () => {
  server = await start();
  const sent: object[] = [];
  const accepted = new Set<string>();
  for (let round = 0; round < 2; round++) {
    const [running, before] = [server, accepted.size];
    const clients = Array.from({ length: 8 }, (_, at) => record(running, `${round}-${at}`, sent, accepted));
    const enough = before + 50 + Math.floor(Math.random() * 100);
    await until(() => accepted.size >= enough);
    await running.kill('SIGKILL');
    await Promise.all(clients);
    server = await start();
  }
  const keyed = sent.filter((body) => 'idempotency_key' in body);
  const running = server;
  const again = await Promise.all(keyed.map((body) => post(running, body)));
  for (const { status, body } of again)
    if (status !== 202) expect([status, body.error.details.identical]).toEqual([409, true]);
  const news = again.flatMap(({ status, body }) => (status === 202 ? [body.id as string] : []));
  expect(news.filter((id) => accepted.has(id))).toEqual([]);
  for (const id of news) accepted.add(id);
  for (const { status } of await Promise.all(keyed.map((body) => post(running, body))))
    expect(status).toBe(409);
  await server.kill();
  server = undefined;

  await within(db, async (sql) => {
    const rows = await sql<{ id: string; idempotency_key: string | null }[]>`
      select id, idempotency_key from billing.usage_event where tenant_id = ${own.tenant}`;
    const stored = new Set(rows.map(({ id }) => id));
    expect([...accepted].filter((id) => !stored.has(id))).toEqual([]);
    expect(rows.filter(({ idempotency_key }) => idempotency_key !== null)).toHaveLength(keyed.length);
    const { events, totals, days } = await sumsOf(sql, own.tenant);
    expect(events).toEqual({ quantity: String(rows.length), count: rows.length });
    expect([totals, days]).toEqual([events, events]);
  });
});
