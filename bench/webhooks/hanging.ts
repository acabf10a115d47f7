/** How endpoints that never answer affect the other endpoints. */
import { onServer } from '../jobs/place.ts';
import { atMostTimes, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { quantile } from '../statistics.ts';
import { steadily } from './pace.ts';
import { withReceiver } from './receiver.ts';
import { createEndpoints, registerType, startService } from './service.ts';

const rate = 500;

/** The deliveries to one half of the endpoints are timed, while the other half is healthy and while it hangs. */
export function hanging(): AsyncIterable<Row> {
  const half = sized(500, 25);
  const path = `acceptance to receiver, p99, while half of ${round(2 * half)} endpoints hang`;
  return onServer(path, '≤ 2 ×', ({ db }) =>
    withReceiver(async function* ({ url, during, cut }) {
      const tenants = (kind: string) => Array.from({ length: half }, (_, at) => `${kind}-${at}`);
      const endpoints = (kind: string) =>
        tenants(kind).map((tenant) => ({ tenant, url: `${url}/${kind}/${tenant}` }));
      await registerType(db);
      for (const kind of ['well', 'good', 'hang']) await createEndpoints(db, endpoints(kind));
      const p99 = async (other: string, doesAnswer: boolean) => {
        const service = await startService(db);
        const mixed = tenants('well').flatMap((tenant, at) => [tenant, `${other}-${at}`]);
        const count = Math.round(rate * sized(6, 0.5));
        // The first deliveries open windows and connections.
        const known = doesAnswer ? mixed : tenants('well');
        await during(known.length, () => steadily(service.send, known, { rate, count: known.length }));
        const expected = doesAnswer ? count : Math.ceil(count / 2);
        const delays = await during(expected, () => steadily(service.send, mixed, { rate, count }));
        const stopped = service.stop();
        await cut();
        await stopped;
        return quantile(delays, 0.99);
      };
      const without = await p99('good', true);
      const besides = await p99('hang', false);
      yield atMostTimes(besides / without, 2, {
        path,
        baseline: 'none hangs',
        measured: `${round(besides)} ms against ${round(without)} ms at ${rate}/s`,
      });
    }),
  );
}
