/** The number of statements of validations that should need none or few, according to the database's own statistics. */
import { load, type Request } from '../load.ts';
import { type Place, withPlace } from '../place.ts';
import { atMost, notMeasured, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { seedKeys } from './data.ts';
import { garbageRequests, validation } from './requests.ts';

const [hit, limit] = ['statements per validation from the cache', 'statements per key, window and process'];

export function statements(): AsyncIterable<Row> {
  return withPlace(async function* (place) {
    if (place.url === undefined) {
      yield notMeasured(hit, '≤ 0.01', 'the embedded database does not count them');
      yield notMeasured(limit, '≤ 20', 'the embedded database does not count them');
      return;
    }
    const { free, limited } = await place.use((db) => seedKeys(db, { free: 100, limited: 20 }));
    const calls = sized(40_000, 2_000);
    const known = await counted(place, turns(free, calls));
    const measured = `${known.commits} of all processes, in ${round(calls)} answers`;
    yield atMost(known.commits / calls, 0.01, { path: hit, unit: 'statements', measured });
    const unknown = await counted(place, garbageRequests(calls));
    yield atMost(unknown.commits / calls, 0.01, {
      path: 'statements per garbage key',
      unit: 'statements',
      measured: `${unknown.commits} of all processes, in ${round(calls)} answers`,
    });
    const each = sized(900, 100);
    const counting = await counted(place, turns(limited, limited.length * each));
    yield atMost(counting.rateWrites / limited.length, 20, {
      path: `${limit}, limit 1,000 a minute`,
      unit: 'statements',
      measured: `${each} validations of each of ${limited.length} keys`,
    });
  });
}

const turns = (keys: readonly string[], calls: number): Request[] =>
  Array.from({ length: calls }, (_, turn) => validation(keys[turn % keys.length]!, 'none'));

interface Counts {
  /** Statements outside larger transactions, and transactions. */
  commits: number;
  /** Writes to the counters of rate windows. */
  rateWrites: number;
}

/** Counts what a separate server needs for these requests, including its start and end. The counts are complete when it has ended. */
async function counted(place: Place, requests: Request[]): Promise<Counts> {
  const before = await counts(place);
  const server = await place.serve();
  try {
    await load({ port: server.port, requests, once: true });
  } finally {
    await server.stop();
  }
  const after = await counts(place);
  return { commits: after.commits - before.commits, rateWrites: after.rateWrites - before.rateWrites };
}

async function counts(place: Place): Promise<Counts> {
  return place.use(async ({ sql }) => {
    const [row] = await sql<[Counts]>`
      select
        (select xact_commit from pg_stat_database where datname = current_database()) as commits,
        n_tup_ins + n_tup_upd as "rateWrites"
      from pg_stat_user_tables
      where relid = 'keys.rate_windows'::regclass`;
    return row;
  });
}
