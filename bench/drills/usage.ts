/** A million usage events in random order, almost a third of them repeats, by eight clients, with a `kill -9` in the middle. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { call } from '../client.ts';
import { onServer } from '../jobs/place.ts';
import { atMost, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { type Answer, post } from './load.ts';
import { type DrillServer, drillServer } from './server.ts';

const clients = 8;
const ofBatch = 500;
/** How many events a client sends one by one after each batch. */
const single = 10;
const tenants = ['one', 'two', 'three', 'four'];
const features = ['calls', 'storage', 'messages', 'minutes'];
const day = 86_400_000;

/** Two servers on PostgreSQL, of which one is killed. */
export const usage = (): AsyncIterable<Row> =>
  onServer('usage events with a kill -9, PostgreSQL', 'each counted once', ({ url }) =>
    drill('PostgreSQL', [{ DATABASE_URL: url }, { DATABASE_URL: url }]),
  );

/** One server on the embedded database. */
export async function* embeddedUsage(): AsyncGenerator<Row> {
  yield* drill('embedded database', [{}]);
}

async function* drill(name: string, places: readonly Record<string, string>[]): AsyncGenerator<Row> {
  const dataDir = await mkdtemp(join(tmpdir(), 'plinth-drill-'));
  const servers: DrillServer[] = [];
  try {
    for (const env of places) {
      const server = await drillServer({ PLINTH_DATA_DIR: dataDir, ...env }, ['keys', 'billing']);
      servers.push(server);
      await server.ready();
    }
    const ports = servers.map(({ port }) => port);
    const subscriptions = await subscribe(ports[0]!);
    const order = randomOrder(sized(1_000_000, 2_000));
    const began = performance.now();
    const load = startLoad(ports, order);
    const victim = servers.at(-1)!;
    while (load.answered() < order.length / 2) await delay(20);
    await victim.kill();
    victim.start();
    await victim.ready();
    await load.ended;
    const perSecond = order.length / ((performance.now() - began) / 1000);
    const path = `${round(order.length)} usage events, 30 % repeats, ${clients} clients, kill -9, ${name}`;
    const measured = `${round(load.acknowledged.size)} distinct ones acknowledged, ${round(perSecond)}/s, ${load.cut()} requests cut by the kill`;
    const wrong = await differences(ports[0]!, subscriptions, load.acknowledged);
    yield atMost(wrong.length, 0, {
      path: `${path}: meters that differ from what was acknowledged`,
      unit: 'meters',
      measured: wrong[0] ?? measured,
    });
    yield atMost(load.refusals.length, 0, {
      path: `${path}: answers that are wrong`,
      unit: 'answers',
      measured: load.refusals[0] ?? 'none',
    });
  } finally {
    await Promise.all(servers.map((one) => one.kill()));
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Gives each tenant a subscription that covers the events, and returns its id by tenant. */
async function subscribe(port: number): Promise<Map<string, string>> {
  const offered = features.map((key) => ({ key, period: 'none' }));
  const plan = { name: 'Drill', currency: 'usd', features: offered };
  const { id: plan_id } = await call<{ id: string }>(port, 'POST', '/billing/billing/plans', plan);
  const starts_at = new Date(Date.now() - 30 * day).toISOString();
  const made = new Map<string, string>();
  for (const tenant_id of tenants) {
    const body = { tenant_id, plan_id, starts_at };
    const { id } = await call<{ id: string }>(port, 'POST', '/billing/billing/subscriptions', body);
    made.set(tenant_id, id);
  }
  return made;
}

/** The numbers of the events as they are sent: seven tenths are new ones, the others repeat any of those. */
function randomOrder(count: number): Uint32Array {
  const distinct = Math.ceil(count * 0.7);
  const order = Uint32Array.from({ length: count }, (_, at) =>
    at < distinct ? at : Math.floor(Math.random() * distinct),
  );
  for (let at = count - 1; at > 0; at--) {
    const other = Math.floor(Math.random() * (at + 1));
    [order[at], order[other]] = [order[other]!, order[at]!];
  }
  return order;
}

const tenantOf = (nth: number) => tenants[nth % tenants.length]!;
const featureOf = (nth: number) => features[Math.floor(nth / tenants.length) % features.length]!;
/** Different for neighbours, so that no event that is lost makes up for one that counts twice. In quarters, whose sums are exact. */
const quartersOf = (nth: number) => 1 + (nth % 9_973);
const now = Date.now();

const eventOf = (nth: number) => ({
  tenant_id: tenantOf(nth),
  feature_key: featureOf(nth),
  quantity: quartersOf(nth) / 4,
  idempotency_key: `event-${nth}`,
  timestamp: new Date(now - (nth % 25) * day).toISOString(),
});

interface UsageLoad {
  /** The numbers of the events that were acknowledged, as stored now or before. */
  readonly acknowledged: ReadonlySet<number>;
  /** How many events were answered, repeats included. */
  readonly answered: () => number;
  /** How many requests had no answer and were sent again. */
  readonly cut: () => number;
  /** The first few answers that no client should get. */
  readonly refusals: readonly string[];
  readonly ended: Promise<unknown>;
}

/** Sends all events. A request without an answer is sent again, as it was, until it has one. */
function startLoad(ports: readonly number[], order: Uint32Array): UsageLoad {
  const acknowledged = new Set<number>();
  const refusals: string[] = [];
  let [next, answered, cut, sent] = [0, 0, 0, 0];
  const take = (count: number) => order.subarray(next, (next = Math.min(order.length, next + count)));

  async function insist(path: string, body: object): Promise<Answer> {
    for (;;) {
      const answer = await post(ports[sent++ % ports.length]!, path, body).catch(() => undefined);
      if (answer !== undefined && ![429, 500, 503].includes(answer.status)) return answer;
      if (answer === undefined) cut += 1;
      await delay(100);
    }
  }

  function settle(numbers: Uint32Array, isRight: boolean, text: string): void {
    answered += numbers.length;
    if (isRight) for (const nth of numbers) acknowledged.add(nth);
    else if (refusals.length < 20) refusals.push(text.slice(0, 200));
  }

  async function client(): Promise<void> {
    while (next < order.length) {
      const batch = take(ofBatch);
      const body = { events: Array.from(batch, eventOf) };
      const { status, text } = await insist('/billing/billing/meter/events/batch', body);
      settle(batch, status === 202 && !text.includes('"rejected",'), text);
      for (let left = single; left > 0 && next < order.length; left--) {
        const one = take(1);
        const answer = await insist('/billing/billing/meter/events', eventOf(one[0]!));
        const isRepeat = answer.status === 409 && answer.text.includes('"identical":true');
        settle(one, answer.status === 202 || isRepeat, answer.text);
      }
    }
  }

  return {
    acknowledged,
    answered: () => answered,
    cut: () => cut,
    refusals,
    ended: Promise.all(Array.from({ length: clients }, client)),
  };
}

/** The meters whose total or whose sum of days is not that of the events. */
async function differences(
  port: number,
  subscriptions: ReadonlyMap<string, string>,
  acknowledged: Iterable<number>,
): Promise<string[]> {
  const quarters = new Map<string, number>();
  for (const nth of acknowledged) {
    const meter = `${tenantOf(nth)} ${featureOf(nth)}`;
    quarters.set(meter, (quarters.get(meter) ?? 0) + quartersOf(nth));
  }
  const wrong: string[] = [];
  for (const [tenant, id] of subscriptions)
    for (const feature of features) {
      const path = `/billing/billing/meter/usage/${id}/${feature}`;
      const { current_usage } = await call<{ current_usage: number }>(port, 'GET', path);
      const { data } = await call<{ data: { usage: number }[] }>(port, 'GET', `${path}/history`);
      const days = data.reduce((sum, one) => sum + one.usage, 0);
      const expected = (quarters.get(`${tenant} ${feature}`) ?? 0) / 4;
      if (current_usage !== expected || days !== expected)
        wrong.push(
          `${tenant} ${feature}: ${current_usage} in all, ${days} by days, ${expected} acknowledged`,
        );
    }
  return wrong;
}
