/** Entitlement checks over HTTP: against Express with a validator and one select, and with a long history. */
import { load, type LoadOptions } from '../load.ts';
import { headers, withPlace } from '../place.ts';
import { type Running, start, withServers } from '../process.ts';
import { atLeast, atMostTimes, notMeasured, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { paired } from '../statistics.ts';
import { fillHistory, subscribe } from './service.ts';

/** Enough tenants that checks of the same one seldom meet. */
const tenants = Array.from({ length: 100 }, (_, nth) => `tenant-${nth}`);
const [first] = tenants as [string];
const busy = 'busy';
const contains = '"allowed":true';

export function check(): AsyncIterable<Row> {
  const path = 'entitlement check, 32 connections';
  return withPlace(async function* (place) {
    const { url } = place;
    if (url === undefined) {
      yield notMeasured(path, '≥ 0.7 ×', 'it needs a PostgreSQL server');
      return;
    }
    await place.use((db) => subscribe(db, [...tenants, busy]));
    const select = start('express-select', [url, first, `sub_${first}`]);
    yield* withServers([place.serve(), select], async function* (plinth, express) {
      const checkOf = (tenant: string) => ({
        path: '/billing/billing/entitlements/check',
        headers: { ...headers, 'X-Tenant-ID': tenant },
        body: { feature_key: 'api_calls' },
      });
      const all = tenants.map(checkOf);
      const [one, withHistory] = [checkOf(first), checkOf(busy)];
      const rate = async ({ port }: Running, requests: LoadOptions['requests']) =>
        (await load({ port, requests, contains })).rate;
      const { ratio, a, b } = await paired(
        () => rate(plinth, all),
        () => rate(express, one),
      );
      const measured = `${round(a)}/s against ${round(b)}/s`;
      yield atLeast(ratio, 0.7, { path, baseline: 'Express, a validator and one select', measured });
      const events = sized(1_000_000, 10_000);
      await place.use((db) => fillHistory(db, busy, events));
      // The same server and database, alternately: whatever else the machine does slows both down.
      const history = await paired(
        () => rate(plinth, one),
        () => rate(plinth, withHistory),
      );
      yield atMostTimes(history.ratio, 1.3, {
        path: `${path}, after ${round(events)} events`,
        baseline: 'of a tenant without any',
        measured: `${round(history.b)}/s against ${round(history.a)}/s`,
      });
    });
  });
}
