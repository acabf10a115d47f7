/** Resolving a known session token in process, which every other service does for each request. */
import { hash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { createChanges } from '../../src/db/changes.ts';
import type { Database } from '../../src/db/index.ts';
import { createActivity } from '../../src/services/auth/sessions/activity.ts';
import { createDirectory } from '../../src/services/auth/directory/directory.ts';
import { liveSessions } from '../../src/services/auth/sessions/live-sessions.ts';
import { createPrincipals } from '../../src/services/auth/sessions/principals.ts';
import { log, withPlace } from '../place.ts';
import { figureAtLeast, forOrientation, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { paired } from '../statistics.ts';
import { seedSessions } from './data.ts';

const path = 'resolve of a session token in process, 10,000 known';

export function resolve(): AsyncIterable<Row> {
  return withPlace(async function* (place) {
    yield* await place.use(async (db) => {
      const tokens = (await seedSessions(db, 10_000)).map(({ token }) => token);
      const changes = createChanges({ db, schema: 'auth', detailed: true, log });
      await changes.start();
      const principals = principalsOn(db, changes);
      // In batches: the database refuses statements when too many wait.
      for (let from = 0; from < tokens.length; from += 500)
        await Promise.all(tokens.slice(from, from + 500).map(async (token) => principals.ofSession(token)));
      const hashes = new Map(tokens.map((token) => [sha256(token), token]));
      const resolved = () =>
        rateOf(tokens, (token) => {
          const found = principals.ofSession(token);
          if (found === undefined || found instanceof Promise) throw new Error('a session is not known');
        });
      const { ratio, a, b } = await paired(resolved, () =>
        rateOf(tokens, (token) => hashes.get(sha256(token))),
      );
      await changes.stop();
      return [
        figureAtLeast(a, 300_000, { path, unit: '/s' }),
        forOrientation(ratio, {
          path,
          baseline: 'SHA-256 and a Map',
          measured: `${round(a)}/s against ${round(b)}/s`,
        }),
      ];
    });
  });
}

const principalsOn = (db: Database, changes: ReturnType<typeof createChanges>) =>
  createPrincipals({
    read: (wanted) => liveSessions(db.sql, wanted),
    changes,
    directory: createDirectory({ db, changes }),
    activity: createActivity({ db, log }),
    size: 50_000,
  });

/** Returns calls per second. The event loop runs every two thousand calls: a process that hears no changes has no cache hits. */
async function rateOf(tokens: readonly string[], call: (token: string) => unknown): Promise<number> {
  const calls = sized(200_000, 10_000);
  const started = performance.now();
  for (let n = 0; n < calls; n++) {
    call(tokens[(n * 7919) % tokens.length]!);
    if (n % 2_000 === 0) await turn();
  }
  return (calls / (performance.now() - started)) * 1000;
}

const sha256 = (token: string) => hash('sha256', token, 'hex');
