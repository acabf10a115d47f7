/**
 * Accepting events: in this process against one job per event, over HTTP against a plain Express server, and with many endpoints.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Pool } from 'undici';
import { compileSchema } from '../../src/services/webhooks/catalogue/data-validator.ts';
import { graphileWorker } from '../jobs/peers/graphile-worker.ts';
import { analyze, onServer } from '../jobs/place.ts';
import { headers } from '../place.ts';
import { start, withServers } from '../process.ts';
import { atLeast, atMostTimes, round, type Row } from '../row.ts';
import { scale, sized } from '../scale.ts';
import { mean, median, paired, timed } from '../statistics.ts';
import { payload } from './moments.ts';
import { enqueue } from './peer.ts';
import { createEndpoints, feed, registerType, startService, type } from './service.ts';

const url = 'http://127.0.0.1:9/nobody';

export function accept(): AsyncIterable<Row> {
  const path = 'accepted events, 32 callers in process';
  return onServer(path, '≥ 2 ×', async function* ({ db, url: database }) {
    await registerType(db);
    await createEndpoints(db, [{ tenant: 'acme', url }]);
    const service = await startService(db, { dispatch: false });
    const peer = await graphileWorker(database);
    const rate = async (send: () => Promise<unknown>, events: number) => {
      const began = performance.now();
      await feed(send, ['acme'], { events });
      return (events * 1_000) / (performance.now() - began);
    };
    let nth = 0;
    const { ratio, a, b } = await paired(
      () => rate(() => service.send('acme'), sized(10_000, 320)),
      () => rate(() => enqueue(peer, url, nth++), sized(3_000, 160)),
      3,
    );
    await Promise.all([service.stop(), peer.close()]);
    yield atLeast(ratio, 2, {
      path,
      baseline: 'graphile-worker `addJob`, 32 callers',
      measured: `${round(a)}/s against ${round(b)}/s`,
    });
  });
}

export function acceptOverHttp(): AsyncIterable<Row> {
  const path = 'accepted events over HTTP, 32 connections';
  return onServer(path, '≥ 0.6 ×', async function* ({ db, url: database, place }) {
    await registerType(db);
    await createEndpoints(db, [{ tenant: 'default', url }]);
    const servers = [
      place.serve({ PLINTH_WEBHOOKS_DISPATCH: 'off' }),
      start('../webhooks/inserting', [database]),
    ];
    yield* withServers(servers, async function* (plinth, express) {
      const { ratio, a, b } = await paired(
        () => answersPerSecond(plinth.port),
        () => answersPerSecond(express.port),
        3,
      );
      yield atLeast(ratio, 0.6, {
        path,
        baseline: 'Express, Ajv and one insert',
        measured: `${round(a)}/s against ${round(b)}/s`,
      });
    });
  });
}

/** An accepted event is answered with 201, which the load generator of the other services would count as a failure. */
async function answersPerSecond(port: number): Promise<number> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 32, pipelining: 1 });
  const sent = { ...headers, 'content-type': 'application/json' };
  const seconds = 2 * Math.max(scale, 0.15);
  const began = performance.now();
  let answers = 0;
  const caller = async () => {
    while (performance.now() - began < seconds * 1_000) {
      const body = JSON.stringify({ type, data: payload() });
      const answer = await pool.request({ path: '/webhooks/events', method: 'POST', headers: sent, body });
      const text = await answer.body.text();
      if (answer.statusCode !== 201) throw new Error(`unexpected answer: ${answer.statusCode} ${text}`);
      answers += 1;
    }
  };
  await Promise.all(Array.from({ length: 32 }, caller)).finally(() => pool.destroy());
  return (answers * 1_000) / (performance.now() - began);
}

/** Events with three matches each, alternately of a tenant with few endpoints and of a tenant with many. */
export function match(): AsyncIterable<Row> {
  const many = sized(100_000, 1_000);
  const path = `accept an event with 3 matches among ${round(many)} endpoints`;
  return onServer(path, '≤ 1.3 ×', async function* ({ db }) {
    await registerType(db);
    for (const [tenant, count] of [
      ['few', 7],
      ['many', many - 3],
    ] as const) {
      await createEndpoints(
        db,
        Array.from({ length: 3 }, () => ({ tenant, url })),
      );
      await db.sql`
        with made as (
          insert into webhooks.endpoint (
            tenant_id, id, app_id, url, description, event_types, channels, ordered, headers, rate_limit, metadata, enabled, payload_format,
            max_concurrency, timeout_ms, max_attempts
          )
          select ${tenant}, 'ep_other_' || n, 'default', ${url}, '', array['other.' || n], '{}', false, '{}', 0, '{}', true, 'standard', 20,
            15000, 10
          from generate_series(1, ${count}::integer) as n
          returning tenant_id, id, event_types[1] as pattern
        )
        insert into webhooks.subscription (tenant_id, app_id, pattern, endpoint_id) select tenant_id, 'default', pattern, id from made`;
    }
    await analyze(db);
    const service = await startService(db, { dispatch: false });
    const times = { few: [] as number[], many: [] as number[] };
    for (let turn = 0; turn < sized(400, 40); turn++)
      for (const tenant of ['few', 'many'] as const)
        times[tenant].push(await timed(() => service.send(tenant)));
    await service.stop();
    const [a, b] = [median(times.many), median(times.few)];
    yield atMostTimes(a / b, 1.3, {
      path,
      baseline: '10 endpoints',
      measured: `${round(a)} ms against ${round(b)} ms`,
    });
  });
}

const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  required: ['sent_at', 'lines'],
  properties: {
    sent_at: { type: 'number' },
    lines: {
      type: 'array',
      items: {
        type: 'object',
        required: ['sku', 'amount'],
        properties: {
          sku: { type: 'string', maxLength: 64 },
          name: { type: 'string' },
          amount: { type: 'integer', minimum: 0 },
        },
        additionalProperties: false,
      },
    },
  },
};

export async function* validate(): AsyncGenerator<Row> {
  const ours = compileSchema(schema);
  const theirs = new Ajv2020().compile(schema);
  const data = payload();
  if (ours(data) !== undefined || !theirs(data)) throw new Error('the data do not satisfy the schema');
  const calls = sized(200_000, 2_000);
  const { ratio, a, b } = await paired(
    () => mean(calls, () => void theirs(data)),
    () => mean(calls, () => void ours(data)),
  );
  yield atLeast(ratio, 0.8, {
    path: 'validate data of 1 KB',
    baseline: 'Ajv alone',
    measured: `${round(b * 1_000)} µs against ${round(a * 1_000)} µs`,
  });
}
