/** How long after its answer a write in one process takes effect in another. */
import { call, until } from '../client.ts';
import { withPlace } from '../place.ts';
import { withServers } from '../process.ts';
import { atMost, notMeasured, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { median, quantile } from '../statistics.ts';

const path = 'propagation of a tuple to another process';

export function propagation(): AsyncIterable<Row> {
  return withPlace(async function* (place) {
    if (place.url === undefined) {
      yield notMeasured(path, '≤ 50 ms', 'the embedded database has one process');
      return;
    }
    yield* withServers([place.serve(), place.serve()], async function* (a, b) {
      const delays: number[] = [];
      for (let n = -10; n < sized(200, 20); n++) {
        const tuple = {
          object_type: 'document',
          object_id: `p${n}`,
          relation: 'viewer',
          subject_type: 'user',
        };
        const sees = async () => {
          const question = { subject_kind: 'user', action: 'viewer', resource_type: 'document' };
          const asked = { ...question, subject_id: 'u', resource_id: tuple.object_id };
          return (await call<{ allowed: boolean }>(b.port, 'POST', '/authz/v1/authz/check', asked)).allowed;
        };
        if (await sees()) throw new Error('what is not written yet is seen');
        await call(a.port, 'POST', '/authz/v1/relations', { ...tuple, subject_id: 'u' });
        const delay = await until(sees);
        // The first writes load the tenant's model and open connections.
        if (n >= 0) delays.push(delay);
      }
      const measured = `p50 ${round(median(delays))} ms`;
      yield atMost(quantile(delays, 0.99), 50, { path: `${path}, p99`, unit: 'ms', measured });
      yield atMost(Math.max(...delays), 1_000, { path: `${path}, worst (MAX_STALENESS)`, unit: 'ms' });
    });
  });
}
