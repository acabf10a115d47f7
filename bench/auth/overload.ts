/** Four times as many sign-ins as the queue of hashes accepts: refused clients are told when to retry, and other calls do not wait. */
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { load, type LoadResult } from '../load.ts';
import { withPlace } from '../place.ts';
import { withServers } from '../process.ts';
import { atLeast, atMost, figureAtLeast, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { median, quantile } from '../statistics.ts';
import { seedSessions } from './data.ts';
import { isTokenSet, me, signins } from './requests.ts';

const cores = availableParallelism();
/** Maximum number of sign-ins running and waiting. */
const room = cores + 32 * cores;
const path = `overload, ${4 * room} clients sign in`;

export function overload(): AsyncIterable<Row> {
  return withPlace(async function* (place) {
    const [session] = await place.use((db) => seedSessions(db, 1));
    yield* withServers([place.serve({ PLINTH_AUTH_RATE_LIMIT: 'off' })], async function* ({ port }) {
      const requests = await signins(port, 50);
      const signIn = (connections: number, seconds: number): Promise<LoadResult> =>
        load({ port, requests, connections, seconds, contains: isTokenSet, comesBack: true });
      const usual = await signIn(16, 4);
      const loaded = signIn(4 * room, 10);
      const checks = await latenciesOf(() => check(port, me(session!)), loaded);
      const { rate, refusals, p99 } = await loaded;
      yield atMost(quantile(checks, 0.99), 20, {
        path: `${path}: GET /me, p99`,
        unit: 'ms',
        measured: `p50 ${round(median(checks))} ms, ${checks.length} checks`,
      });
      yield figureAtLeast(refusals.length, 1, {
        path: `${path}: answers 429 with Retry-After`,
        unit: 'refusals',
      });
      yield atMost(quantile(refusals, 0.99), 250, { path: `${path}: a refusal, p99`, unit: 'ms' });
      yield atLeast(rate / usual.rate, 0.8, {
        path: `${path}: those who get in`,
        baseline: '16 clients',
        measured: `${round(rate)}/s against ${round(usual.rate)}/s`,
      });
      // The time for all running and waiting sign-ins, one after the other, and the same time again for the work before and
      // after.
      yield atMost(p99, (2 * 1000 * room) / rate, {
        path: `${path}: a sign-in that gets in, p99`,
        unit: 'ms',
      });
    });
  });
}

/** Returns the milliseconds of calls made one by one, a few per second, until the load ends. */
async function latenciesOf(call: () => Promise<void>, loaded: Promise<unknown>): Promise<number[]> {
  let over = false;
  void loaded.finally(() => (over = true)).catch(() => {});
  const times: number[] = [];
  while (!over) {
    const started = performance.now();
    await call();
    times.push(performance.now() - started);
    await delay(sized(10));
  }
  return times;
}

async function check(port: number, { path, headers = {} }: ReturnType<typeof me>): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  if (!answer.ok) throw new Error(`a session check was answered ${answer.status}`);
  await answer.arrayBuffer();
}
