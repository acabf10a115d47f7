/** How many statements an engine without work causes, according to the database's own statistics. */
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { createEngine, type Engine } from '../../src/db/engine/index.ts';
import { openDatabase } from '../../src/db/index.ts';
import { createPool } from '../../src/db/sql.ts';
import { until } from '../client.ts';
import { log, withPlace } from '../place.ts';
import { atMost, notMeasured, round, type Row } from '../row.ts';
import { scale, sized } from '../scale.ts';

const path = 'statements of an idle engine';
const queues = 20;

export function idle(): AsyncIterable<Row> {
  return withPlace(async function* ({ url }) {
    if (url === undefined) {
      yield notMeasured(path, '≤ 6', 'the embedded database does not count them');
      return;
    }
    yield atMost(await perSecond(url), 6, { path, unit: 'a second' });
    const jobs = sized(20_000, 2_000);
    await addHistory(url, jobs);
    yield atMost(await perSecond(url), 6, {
      path: `${path}, ${queues} queues with ${round(jobs)} ended jobs`,
      unit: 'a second',
    });
  });
}

/** The difference between two engines that run for different times, so that the work at their start and end does not count. */
async function perSecond(url: string): Promise<number> {
  const seconds = Math.max(1, 8 * scale);
  const [short, long] = [await ofEngine(url, seconds / 4), await ofEngine(url, seconds)];
  return Math.max(0, long - short) / (seconds * 0.75);
}

async function ofEngine(url: string, seconds: number): Promise<number> {
  const before = await commits(url);
  await withEngine(url, () => delay(seconds * 1_000));
  return (await commits(url)) - before;
}

async function addHistory(url: string, jobs: number): Promise<void> {
  let ended = 0;
  const add = async (engine: Engine) => {
    for (let queue = 0; queue < queues; queue++)
      for (let left = Math.ceil(jobs / queues); left > 0; left -= 1_000)
        await engine.enqueue(
          Array.from({ length: Math.min(left, 1_000) }, () => ({ name: 'nothing', queue: `bench-${queue}` })),
        );
    await until(() => delay(5).then(() => ended >= jobs));
  };
  await withEngine(url, add, () => void ended++);
}

async function withEngine(
  url: string,
  use: (engine: Engine) => Promise<unknown>,
  handler = () => {},
): Promise<void> {
  const db = await openDatabase({ url, dataDir: tmpdir(), log });
  const engine = createEngine({ db, log });
  for (let queue = 0; queue < queues; queue++) engine.handle(`bench-${queue}`, 'nothing', handler);
  await engine.start();
  await use(engine).finally(async () => {
    await engine.stop();
    await db.close();
  });
}

/**
 * Returns the transactions of all connections that have ended, because the database counts the work of a connection when it ends.
 */
async function commits(url: string): Promise<number> {
  const sql = createPool({ max: 1, fetch_types: false }, url);
  try {
    await until(async () => {
      const [{ open }] = await sql<[{ open: number }]>`
        select count(*)::integer as open from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
      return open === 0;
    });
    const [{ count }] = await sql<[{ count: number }]>`
      select xact_commit::integer as count from pg_stat_database where datname = current_database()`;
    return count;
  } finally {
    await sql.end();
  }
}
