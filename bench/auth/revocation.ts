/** How long another process still accepts a session after one process ends it. */
import { until } from '../client.ts';
import { withPlace } from '../place.ts';
import { withServers } from '../process.ts';
import { atMost, notMeasured, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { median, quantile } from '../statistics.ts';
import { seedSessions } from './data.ts';
import { me } from './requests.ts';

const path = 'end of a session seen by another process';

export function revocation(): AsyncIterable<Row> {
  return withPlace(async function* (place) {
    if (place.url === undefined) {
      yield notMeasured(path, '≤ 50 ms', 'the embedded database has one process');
      return;
    }
    const sessions = await place.use((db) => seedSessions(db, sized(300, 20)));
    yield* withServers([place.serve(), place.serve()], async function* (a, b) {
      const delays: number[] = [];
      for (const session of sessions) {
        const { path: check, headers = {} } = me(session);
        const passes = async () =>
          (await fetch(`http://127.0.0.1:${b.port}${check}`, { headers })).status === 200;
        if (!(await passes()) || !(await passes())) throw new Error('a new session is not good');
        const ended = await fetch(`http://127.0.0.1:${a.port}/auth/v1/auth/signout`, {
          method: 'POST',
          headers,
        });
        if (!ended.ok) throw new Error(`the session was not ended: ${ended.status}`);
        delays.push(await until(async () => !(await passes())));
      }
      const measured = `p50 ${round(median(delays))} ms`;
      const baseline = 'Better Auth with its cookie cache: 300 s';
      yield atMost(quantile(delays, 0.99), 50, { path: `${path}, p99`, unit: 'ms', baseline, measured });
      yield atMost(Math.max(...delays), 1_500, { path: `${path}, worst`, unit: 'ms' });
    });
  });
}
