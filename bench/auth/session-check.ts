/** Session check: `GET /me` against Better Auth's session check and against an Express server that only echoes JSON. */
import { load, type LoadResult, type Request } from '../load.ts';
import { type Place, withPlace } from '../place.ts';
import { start, withServers } from '../process.ts';
import { atLeast, atMost, notMeasured, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { median, paired, type Paired } from '../statistics.ts';
import { seedSessions, type SeededSession } from './data.ts';
import { isUser, me, peerSession } from './requests.ts';

const count = sized(10_000, 500);
const path = `session check, ${round(count)} sessions, 32 connections`;

export function sessionCheck(): AsyncIterable<Row> {
  return withPlace(async function* (place) {
    const sessions = await place.use((db) => seedSessions(db, count));
    const peer = start('better-auth-sessions', [place.url ?? '', String(count)]);
    yield* withServers(
      [place.serve(), peer, start('express', ['echo'])],
      async function* (plinth, peer, echo) {
        const named = `Better Auth getSession${place.url === undefined ? ', in memory' : ', no cookie cache'}`;
        const [mine, others] = [sessions.map(me), sessions.map((_, n) => peerSession(n))];
        const kept: LoadResult[] = [];
        const ours = rate(plinth.port, mine, isUser, kept);
        const beside = await paired(ours, rate(peer.port, others, '"user":'), 3);
        yield atLeast(beside.ratio, 4, { path, baseline: named, measured: told(beside) });
        const answer = await get(plinth.port, sessions[0]!);
        const echoed = await paired(ours, rate(echo.port, [{ path: '/echo', body: answer }], isUser), 3);
        yield atLeast(echoed.ratio, 0.7, {
          path,
          baseline: 'Express JSON echo of the same answer',
          measured: told(echoed),
        });
        // The first run found the cache empty.
        yield atMost(median(kept.slice(1).map(({ p99 }) => p99)), 5, { path: `${path}, p99`, unit: 'ms' });
      },
    );
    yield await statements(place, sessions);
  });
}

const rate = (port: number, requests: Request[], contains: string, kept: LoadResult[] = []) =>
  async function () {
    const result = await load({ port, requests, contains });
    kept.push(result);
    return result.rate;
  };

/** Returns the answer that the echo server must also give. */
async function get(port: number, session: SeededSession): Promise<unknown> {
  const { path, headers = {} } = me(session);
  return (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).json();
}

const told = ({ a, b }: Paired) => `${round(a)}/s against ${round(b)}/s`;

/** Counts statements with the database's own statistics, including the start and end of a separate server. */
async function statements(place: Place, sessions: readonly SeededSession[]): Promise<Row> {
  const path = 'statements per session check from the cache';
  if (place.url === undefined)
    return notMeasured(path, '≤ 0.01', 'the embedded database does not count them');
  const [few, calls] = [sessions.slice(0, 100), sized(40_000, 4_000)];
  const requests = Array.from({ length: calls }, (_, turn) => me(few[turn % few.length]!));
  const before = await commits(place);
  const server = await place.serve();
  try {
    await load({ port: server.port, requests, once: true, contains: isUser });
  } finally {
    await server.stop();
  }
  const all = (await commits(place)) - before;
  return atMost(all / calls, 0.01, {
    path,
    unit: 'statements',
    measured: `${all} of all processes, in ${round(calls)} answers`,
  });
}

const commits = (place: Place): Promise<number> =>
  place.use(async ({ sql }) => {
    const [row] = await sql<[{ commits: number }]>`
      select xact_commit as commits from pg_stat_database where datname = current_database()`;
    return row.commits;
  });
