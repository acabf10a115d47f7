/** Validation over HTTP against Better Auth and against an Express server that only echoes JSON. */
import type { Database } from '../../src/db/index.ts';
import { newId } from '../../src/lib/ids.ts';
import { load, type LoadResult, type Request } from '../load.ts';
import { type Place, withPlace } from '../place.ts';
import { type Running, start, withServers } from '../process.ts';
import { atLeast, atMost, notMeasured, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { latencies, median, paired, type Paired } from '../statistics.ts';
import { seedKeys, type Seeded } from './data.ts';
import { garbageRequests, peerRequests, valid, validations } from './requests.ts';

const sizes = { free: sized(100_000, 2_000), limited: sized(10_000, 1_000) };

interface Setting {
  place: Place;
  seeded: Seeded;
  plinth: Running;
  peer: Running;
  echo: Running;
  /** The name of the peer and of the database it runs on. */
  named: string;
}

export function validate(): AsyncIterable<Row> {
  return withPlace(async function* (place) {
    const seeded = await place.use((db) => seedKeys(db, sizes));
    const peer = start('better-auth', [place.url ?? '', String(sizes.free), String(sizes.limited)]);
    yield* withServers(
      [place.serve(), peer, start('express', ['echo'])],
      async function* (plinth, peer, echo) {
        const named = `Better Auth verifyApiKey${place.url === undefined ? ', in memory' : ''}`;
        const setting = { place, seeded, plinth, peer, echo, named };
        yield* unrecorded(setting);
        yield* durable(setting);
        yield* limited(setting);
        yield* garbage(setting);
      },
    );
  });
}

const rate = (
  port: number,
  requests: Request[],
  connections = 32,
  contains = valid,
  kept: LoadResult[] = [],
) =>
  async function () {
    const result = await load({ port, requests, connections, contains });
    kept.push(result);
    return result.rate;
  };

const told = ({ a, b }: Paired) => `${round(a)}/s against ${round(b)}/s`;

async function* unrecorded({ seeded, plinth, peer, echo, named }: Setting): AsyncIterable<Row> {
  const requests = validations(seeded.free, 'none');
  const path = `validate, record: none, ${round(sizes.free)} keys, 32 connections`;
  const ours = rate(plinth.port, requests);
  const beside = await paired(ours, rate(peer.port, peerRequests('free', sizes.free)), 3);
  yield atLeast(beside.ratio, 12, { path, baseline: named, measured: told(beside) });
  const echoed = await paired(ours, rate(echo.port, requests, 32, 'raw_key'));
  yield atLeast(echoed.ratio, 0.7, { path, baseline: 'Express JSON echo', measured: told(echoed) });
}

async function* durable({ place, seeded, plinth, peer, named }: Setting): AsyncIterable<Row> {
  const requests = validations(seeded.free, 'durable');
  const unrecorded = validations(seeded.free, 'none');
  for (const [connections, least] of [
    [32, 4],
    [128, 8],
  ] as const) {
    const path = `validate, durable, ${connections} connections`;
    const kept: LoadResult[] = [];
    const result = await paired(
      rate(plinth.port, requests, connections, valid, kept),
      rate(peer.port, peerRequests('free', sizes.free), connections),
      3,
    );
    yield atLeast(result.ratio, least, { path, baseline: named, measured: told(result) });
    if (place.url === undefined) {
      yield notMeasured(`${path}: p50`, '≤ 2 commits', 'the embedded database is open in another process');
      continue;
    }
    const { p50: without } = await load({
      port: plinth.port,
      requests: unrecorded,
      connections,
      contains: valid,
    });
    const p50 = median(kept.slice(1).map((one) => one.p50));
    const commit = await place.use((db) => commitTime(db, connections));
    yield atMost((p50 - without) / commit, 2, {
      path: `${path}: what the record adds to the p50`,
      unit: 'commits',
      baseline: 'the insert of as many records, alone',
      measured: `${round(p50)} ms instead of ${round(without)} ms, a commit ${round(commit)} ms`,
    });
  }
}

/** Returns the milliseconds of storing one journal row with a record from every connection. */
async function commitTime({ sql }: Database, records: number): Promise<number> {
  await sql`create table if not exists keys.bench_journal (like keys.usage_journal including all)`;
  const record = {
    id: newId('kuse'),
    key_id: newId('key'),
    tenant_id: 'default',
    source: 'validation',
    outcome: 'VALID',
  };
  const empty = {
    cost: 1,
    method: null,
    endpoint: null,
    status_code: null,
    latency_ms: null,
    ip_address: null,
  };
  const rows = Array.from({ length: records }, () => ({
    ...record,
    ...empty,
    created_at: '2026-11-20T09:30:06.000Z',
  }));
  const insert = () => sql`
    insert into keys.bench_journal (rows, counts) values (${JSON.stringify(rows)}::text::json, '[]')`;
  return median(await latencies(50, insert));
}

async function* limited({ seeded, plinth, peer, named }: Setting): AsyncIterable<Row> {
  const path = 'validate, durable, limit 1,000 a minute, 32 connections';
  const result = await paired(
    rate(plinth.port, validations(seeded.limited, 'durable')),
    rate(peer.port, peerRequests('limited', sizes.limited)),
    3,
  );
  yield atLeast(result.ratio, 4, { path, baseline: `${named}, with its limiter`, measured: told(result) });
}

async function* garbage({ plinth, echo }: Setting): AsyncIterable<Row> {
  const requests = garbageRequests(sized(10_000, 500));
  const path = 'garbage keys, 32 connections';
  const result = await paired(
    rate(plinth.port, requests, 32, '"NOT_FOUND"'),
    rate(echo.port, requests, 32, 'raw_key'),
  );
  yield atLeast(result.ratio, 0.8, { path, baseline: 'Express JSON echo', measured: told(result) });
}
