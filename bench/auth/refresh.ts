/** Refreshes against the one commit that they need at least, and against the peer extending a session. */
import { load, type Request } from '../load.ts';
import { withPlace } from '../place.ts';
import { start, withServers } from '../process.ts';
import { atLeast, notMeasured, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { paired, type Paired } from '../statistics.ts';
import { seedSessions } from './data.ts';
import { isTokenSet, peerSession, refresh } from './requests.ts';

const path = 'refresh, every session once, 32 connections';
const [each, rounds] = [sized(2_500, 250), 5];
const count = each * (rounds + 1) * 2;

export function refreshing(): AsyncIterable<Row> {
  return withPlace(async function* (place) {
    const { url } = place;
    if (url === undefined) {
      yield notMeasured(path, '≥ 0.7 ×', 'the embedded database is open in another process');
      return;
    }
    const requests = await place.use(async (db) => {
      const sessions = await seedSessions(db, count);
      await db.maintenance(async (sql) => {
        await sql`create schema bench`;
        await sql`create table bench.sessions (like auth.sessions including all)`;
        await sql`insert into bench.sessions select * from auth.sessions`;
        await sql`create table bench.spent_refresh (like auth.spent_refresh including all)`;
        await sql`analyze bench.sessions`;
      });
      return sessions.map(refresh);
    });
    const updating = start('better-auth-sessions', [url, String(each), 'update']);
    yield* withServers(
      [place.serve({ PLINTH_AUTH_RATE_LIMIT: 'off' }), start('refreshing', [url]), updating],
      async function* (plinth, bare, peer) {
        const [mine, others] = [turns(requests), turns(requests)];
        const ours = () => rateOf(plinth.port, mine(), isTokenSet);
        const beside = await paired(ours, () => rateOf(bare.port, others(), 'expires_at'), rounds);
        yield atLeast(beside.ratio, 0.7, {
          path,
          baseline: 'Express and one update with an insert, committed',
          measured: told(beside),
        });
        const sessions = Array.from({ length: each }, (_, n) => peerSession(n));
        const better = await paired(ours, () => rateOf(peer.port, sessions, '"user":'), rounds);
        yield atLeast(better.ratio, 2, {
          path,
          baseline: 'Better Auth session update',
          measured: told(better),
        });
      },
    );
  });
}

const told = ({ a, b }: Paired) => `${round(a)}/s against ${round(b)}/s`;

/** Returns the next `each` requests at each call, because a refresh token is valid only once. */
function turns(requests: readonly Request[]): () => Request[] {
  let from = 0;
  return () => requests.slice(from, (from += each));
}

const rateOf = async (port: number, requests: readonly Request[], contains: string): Promise<number> =>
  (await load({ port, requests, once: true, contains })).rate;
