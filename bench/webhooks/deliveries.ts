/** The whole path of an event, from its acceptance to the record of its delivery, against job queues that post the events. */
import { type Opened, onServer } from '../jobs/place.ts';
import { bullmq } from '../jobs/peers/bullmq.ts';
import { graphileWorker } from '../jobs/peers/graphile-worker.ts';
import type { Peer } from '../jobs/peers/peer.ts';
import { pgBoss } from '../jobs/peers/pg-boss.ts';
import { atLeast, atMost, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { median, paired, quantile } from '../statistics.ts';
import { payload } from './moments.ts';
import { steadily } from './pace.ts';
import { deliver, enqueue, post } from './peer.ts';
import { type Receiver, withReceiver } from './receiver.ts';
import { createEndpoints, feed, registerType, startService, slots } from './service.ts';

export function endToEnd(): AsyncIterable<Row> {
  return measured('events end to end', '≥ 1 ×', async function* (opened, receiver) {
    const peers: [open: () => Promise<Peer>, least: number][] = [
      [() => graphileWorker(opened.url, { concurrency: slots }), 1],
      [() => graphileWorker(opened.url, { concurrency: slots, isBatched: false }), 3],
      [() => pgBoss(opened.url), 3],
      [() => bullmq(opened.url, slots), 3],
    ];
    for (const [open, least] of peers) yield* againstQueue(opened, receiver, await open(), { least });
    const many = sized(1_000, 50);
    const batched = await graphileWorker(opened.url, { concurrency: slots });
    yield* againstQueue(opened, receiver, batched, { endpoints: many, least: 1 });
    yield* againstPosts(opened, receiver);
  });
}

/** The delays from acceptance to the receiver at half of the highest rate. */
export function delay(): AsyncIterable<Row> {
  const path = 'acceptance to receiver at half of the maximum, p99';
  return measured(path, '≤ 50 ms', async function* ({ db }, receiver) {
    const tenants = await endpointsOf(db, receiver, 1);
    const service = await startService(db);
    const events = sized(5_000, 500);
    const whole = async () => {
      const began = performance.now();
      await receiver.during(events, () => feed(service.send, tenants, { events }));
      return (events * 1_000) / (performance.now() - began);
    };
    await whole();
    const rate = (await whole()) / 2;
    const count = Math.round(rate * sized(4, 0.5));
    const delays = await receiver.during(count, () => steadily(service.send, tenants, { rate, count }));
    await service.stop();
    yield atMost(quantile(delays, 0.99), 50, {
      path,
      unit: 'ms',
      measured: `p50 ${round(median(delays))} ms at ${round(rate)}/s`,
    });
  });
}

interface Comparison {
  readonly endpoints?: number;
  readonly least: number;
}

async function* againstQueue(
  { db }: Opened,
  receiver: Receiver,
  peer: Peer,
  { endpoints = 1, least }: Comparison,
): AsyncGenerator<Row> {
  const events = sized(5_000, 300);
  const tenants = await endpointsOf(db, receiver, endpoints);
  const theirs = async () => {
    const began = performance.now();
    const stop = await peer.start(deliver);
    let nth = 0;
    const send = (tenant: string) => enqueue(peer, urlOf(receiver, tenant), nth++);
    await receiver.during(events, () => feed(send, tenants, { events }));
    await stop();
    return (events * 1_000) / (performance.now() - began);
  };
  const { ratio, a, b } = await paired(ours({ db, receiver, tenants, events }), theirs, 2);
  await peer.close();
  yield atLeast(ratio, least, {
    path: `events end to end, ${round(endpoints)} ${endpoints === 1 ? 'endpoint' : 'endpoints'}`,
    baseline: `${peer.name}, undici and HMAC`,
    measured: `${round(a)}/s against ${round(b)}/s`,
  });
}

/** The baseline: plain posts without any queue behind them. */
async function* againstPosts({ db }: Opened, receiver: Receiver): AsyncGenerator<Row> {
  const events = sized(5_000, 300);
  const tenants = await endpointsOf(db, receiver, 1);
  let nth = 0;
  const send = (tenant: string) => post(urlOf(receiver, tenant), payload(), `evt_${nth++}`);
  const posts = async () => {
    const began = performance.now();
    await receiver.during(events, () => feed(send, tenants, { events, callers: slots }));
    return (events * 1_000) / (performance.now() - began);
  };
  const { ratio, a, b } = await paired(ours({ db, receiver, tenants, events }), posts, 2);
  yield atLeast(ratio, 0.3, {
    path: 'events end to end, 1 endpoint',
    baseline: 'undici and HMAC alone',
    measured: `${round(a)}/s against ${round(b)}/s`,
  });
}

interface Whole {
  readonly db: Opened['db'];
  readonly receiver: Receiver;
  readonly tenants: readonly string[];
  readonly events: number;
}

/** Returns the events per second until the last delivery is recorded. */
const ours =
  ({ db, receiver, tenants, events }: Whole) =>
  async () => {
    const service = await startService(db);
    const began = performance.now();
    await receiver.during(events, () => feed(service.send, tenants, { events }));
    await service.settled();
    const seconds = (performance.now() - began) / 1_000;
    await service.stop();
    return events / seconds;
  };

const urlOf = ({ url }: Receiver, tenant: string) => `${url}/${tenant}`;

/** Creates tenants with an endpoint each. */
async function endpointsOf(db: Opened['db'], receiver: Receiver, count: number): Promise<string[]> {
  const tenants = Array.from({ length: count }, (_, at) => `tenant-${count}-${at}`);
  const [existing] = await db.sql`select from webhooks.endpoint where tenant_id = ${tenants[0]!} limit 1`;
  if (existing === undefined)
    await createEndpoints(
      db,
      tenants.map((tenant) => ({ tenant, url: urlOf(receiver, tenant) })),
    );
  return tenants;
}

const measured = (
  path: string,
  target: string,
  use: (opened: Opened, receiver: Receiver) => AsyncIterable<Row>,
): AsyncIterable<Row> =>
  onServer(path, target, (opened) =>
    withReceiver(async function* (receiver) {
      await registerType(opened.db);
      yield* use(opened, receiver);
    }),
  );
