/** Entitlement checks over HTTP: against Express with a validator and one select, and with a long history and a hundred features. */
import { load } from '../load.ts';
import { headers, withPlace } from '../place.ts';
import { start, withServers } from '../process.ts';
import { atLeast, atMostTimes, notMeasured, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { paired } from '../statistics.ts';
import { fillHistory, subscribe } from './service.ts';

const tenant = 'acme';
const contains = '"allowed":true';

export function check(): AsyncIterable<Row> {
  const path = 'entitlement check, 32 connections';
  return withPlace(async function* (place) {
    const { url } = place;
    if (url === undefined) {
      yield notMeasured(path, '≥ 0.7 ×', 'it needs a PostgreSQL server');
      return;
    }
    await place.use((db) => subscribe(db, [tenant]));
    const select = start('express-select', [url, tenant, `sub_${tenant}`]);
    yield* withServers([place.serve(), select], async function* (plinth, express) {
      const requests = (more: object) => ({
        path: '/billing/billing/entitlements/check',
        headers: { ...headers, 'X-Tenant-ID': tenant },
        body: { feature_key: 'api_calls', ...more },
      });
      const rate = async (port: number) => (await load({ port, requests: requests({}), contains })).rate;
      const { ratio, a, b } = await paired(
        () => rate(plinth.port),
        () => rate(express.port),
      );
      const measured = `${round(a)}/s against ${round(b)}/s`;
      yield atLeast(ratio, 0.7, { path, baseline: 'Express, a validator and one select', measured });
      const few = await rate(plinth.port);
      const events = sized(1_000_000, 10_000);
      await place.use((db) => fillHistory(db, tenant, events));
      const many = await rate(plinth.port);
      yield atMostTimes(few / many, 1.3, {
        path: `${path}, after ${round(events)} events`,
        baseline: 'without any',
        measured: `${round(many)}/s against ${round(few)}/s`,
      });
    });
  });
}
