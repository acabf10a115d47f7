/** The cost of the runtime: against bare Express and bare `node:http`, and for the first and the last operation. */
import { operations } from '../generated/operations.ts';
import { load, type Request } from './load.ts';
import { headers, token } from './place.ts';
import { start, withServers } from './process.ts';
import { atLeast, forOrientation, type Measurements, round, type Row } from './row.ts';
import { paired } from './statistics.ts';

const check: Request = {
  path: '/authz/v1/authz/check',
  headers,
  body: {
    subject_kind: 'user',
    subject_id: 'u-42',
    action: 'read',
    resource_type: 'document',
    resource_id: 'readme',
  },
};

export default { besideBareServers, firstAndLast } satisfies Measurements;

function besideBareServers(): AsyncIterable<Row> {
  const starts = [start('runtime', ['authz', token]), start('express'), start('node-http')] as const;
  return withServers(starts, async function* (...servers) {
    const [runtime, express, node] = servers.map(
      ({ port }) =>
        async () =>
          (await load({ port, requests: check })).rate,
    );
    const path = 'runtime, constant answer';
    const json = await paired(runtime!, express!);
    const measured = ({ a, b }: { a: number; b: number }) => `${round(a)}/s against ${round(b)}/s`;
    yield atLeast(json.ratio, 0.85, {
      path,
      baseline: 'Express 5 + express.json()',
      measured: measured(json),
    });
    const bare = await paired(runtime!, node!, 3);
    yield forOrientation(bare.ratio, { path, baseline: 'node:http + JSON.parse', measured: measured(bare) });
  });
}

/** Measures that the cost of a request does not grow with the number of operations. */
function firstAndLast(): AsyncIterable<Row> {
  const service = largestService();
  const gets = operations.filter(
    (operation) =>
      operation.service === service &&
      operation.verb === 'GET' &&
      operation.parameters.every(({ required }) => !required) &&
      operation.access !== 'public' &&
      operation.responses[0]?.contentTypes[0] === 'application/json',
  );
  const [first, last] = [gets[0]!, gets.at(-1)!];
  return withServers([start('runtime', [service, token])], async function* ({ port }) {
    const rate = (path: string) => async () =>
      (await load({ port, requests: { method: 'GET', path: `/${service}${path}`, headers } })).rate;
    const { ratio, a, b } = await paired(rate(last.path), rate(first.path), 7);
    yield atLeast(ratio, 0.95, {
      path: `last operation of ${service}: GET ${last.path}`,
      baseline: `first: GET ${first.path}`,
      measured: `${round(a)}/s against ${round(b)}/s`,
    });
  });
}

function largestService(): string {
  const counts = new Map<string, number>();
  for (const { service } of operations) counts.set(service, (counts.get(service) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]![0];
}
