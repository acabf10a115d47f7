/**
 * Validations that need the database in every process, that two processes share, and that another process has to refuse soon
 * after a revocation.
 */
import { call, until } from '../client.ts';
import { load } from '../load.ts';
import { withPlace } from '../place.ts';
import { withServers } from '../process.ts';
import { atLeast, atMost, notMeasured, round, type Row } from '../row.ts';
import { sized } from '../scale.ts';
import { median, paired, quantile } from '../statistics.ts';
import { seedKeys } from './data.ts';
import { valid, validation, validations } from './requests.ts';

/** Validates every key once, alternately from memory and from the database. */
export function cold(): AsyncIterable<Row> {
  return withPlace(async function* (place) {
    const each = sized(15_000, 500);
    const rounds = 5;
    const { free } = await place.use((db) => seedKeys(db, { free: each * (rounds + 1), limited: 0 }));
    yield* withServers([place.serve()], async function* ({ port }) {
      let turn = 0;
      const rateOf = async (keys: string[]) =>
        (
          await load({
            port,
            requests: keys.map((key) => validation(key, 'none')),
            once: true,
            contains: valid,
          })
        ).rate;
      const { ratio, a, b } = await paired(
        () => rateOf(free.slice(turn * each, ++turn * each)),
        // The same keys again, from the cache.
        () => rateOf(free.slice((turn - 1) * each, turn * each)),
        rounds,
      );
      yield atLeast(ratio, 0.6, {
        path: 'cold validate, every key once',
        baseline: 'the same keys from the cache',
        measured: `${round(a)}/s against ${round(b)}/s`,
      });
    });
  });
}

export function hotKey(): AsyncIterable<Row> {
  const path = 'one hot key, durable, 128 connections, 2 processes';
  return withPlace(async function* (place) {
    if (place.url === undefined) {
      yield notMeasured(path, '≥ 0.8 ×', 'the embedded database has one process');
      return;
    }
    const { free } = await place.use((db) => seedKeys(db, { free: sized(100_000, 2_000), limited: 0 }));
    yield* withServers([place.serve(), place.serve()], async function* (...servers) {
      const rateOf = async (keys: string[]) => {
        const requests = validations(keys, 'durable');
        const results = await Promise.all(
          servers.map(({ port }) => load({ port, requests, connections: 64, contains: valid })),
        );
        return results.reduce((sum, { rate }) => sum + rate, 0);
      };
      const { ratio, a, b } = await paired(
        () => rateOf(free.slice(0, 1)),
        () => rateOf(free),
        3,
      );
      yield atLeast(ratio, 0.8, {
        path,
        baseline: `${round(free.length)} keys`,
        measured: `${round(a)}/s against ${round(b)}/s`,
      });
    });
  });
}

export function revocation(): AsyncIterable<Row> {
  const path = 'revocation seen by another process';
  return withPlace(async function* (place) {
    if (place.url === undefined) {
      yield notMeasured(path, '≤ 50 ms', 'the embedded database has one process');
      return;
    }
    yield* withServers([place.serve(), place.serve()], async function* (a, b) {
      const delays: number[] = [];
      for (let n = 0; n < sized(200, 20); n++) {
        const made = await call<{ raw_key: string; key: { id: string } }>(a.port, 'POST', '/keys/v1/keys', {
          name: 'k',
        });
        const { path: url, body } = validation(made.raw_key, 'none');
        const passes = async () => (await call<{ valid: boolean }>(b.port, 'POST', url, body)).valid;
        if (!(await passes()) || !(await passes())) throw new Error('a new key is not valid');
        await call(a.port, 'POST', `/keys/v1/keys/${made.key.id}/revoke`, { reason: 'bench' });
        delays.push(await until(async () => !(await passes())));
      }
      const measured = `p50 ${round(median(delays))} ms`;
      yield atMost(quantile(delays, 0.99), 50, { path: `${path}, p99`, unit: 'ms', measured });
      yield atMost(Math.max(...delays), 1_500, { path: `${path}, worst`, unit: 'ms' });
    });
  });
}
