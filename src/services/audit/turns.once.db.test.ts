/** Tests that the largest requests that are accepted do not hold the event loop for long. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Report } from '../../../generated/audit/types.ts';
import { leastTurnOf, onThisMachine } from '../../testing/processor-time.ts';
import { testServer, type TestServer } from '../../testing/server.ts';
import { day, inTenant, tools } from './testing.ts';

/** The milliseconds for which one request may keep all others waiting. */
const bound = () => onThisMachine(50);

let server: TestServer;
let api: ReturnType<typeof tools>;
const own = inTenant('turns');
beforeAll(async () => {
  server = await testServer({ services: ['audit', 'keys'], strict: false });
  api = tools(server);
});
afterAll(() => server.close());

const hold = (work: () => Promise<unknown>): Promise<number> => leastTurnOf(work, bound);

const body = (members: object) => ({ timestamp: day(2), user_id: 'anna', ...members });
const busy = { a: Array.from({ length: 15_000 }, (_, at) => at % 10) };

const most: readonly (readonly [what: string, events: () => object[]])[] = [
  [
    '1000 small events',
    () =>
      Array.from({ length: 1_000 }, (_, at) =>
        body({ subject_id: `s${at}`, idempotency_key: `${Math.random()}` }),
      ),
  ],
  ['4 MiB of events', () => Array.from({ length: 120 }, () => body({ metadata: { t: 'x'.repeat(32_000) } }))],
  ['as many values as a body may have', () => Array.from({ length: 5 }, () => body({ metadata: busy }))],
];

it.each(most)('a batch of %s', { timeout: 60_000 }, async (_, events) => {
  const batch = events();
  // The request itself is encoded by the test, and read by the frame, before the service sees it.
  const text = JSON.stringify({
    events: batch.map((event) => ({ action: 'a', resource: 'r', category: 'data', ...event })),
  });
  const send = async () => {
    const { status, text: answer } = await server.request('POST', '/audit/v1/events/batch', {
      ...own,
      body: text,
    });
    expect([status, answer.slice(0, 200)]).toEqual([201, expect.any(String)]);
  };
  expect(await hold(send)).toBeLessThan(bound());
});

it.each([
  ['a list', '/events?limit=1000'],
  ['an export', '/events/export/ndjson'],
  ['an export as CSV', '/events/export/csv'],
])('%s of large events', { timeout: 60_000 }, async (_, path) => {
  const read = async () => {
    const response = await fetch(`${server.url}/audit/v1${path}`, {
      headers: { ...own.headers, authorization: `Bearer ${server.rootToken}` },
    });
    for await (const piece of response.body!) expect(piece).toBeDefined();
  };
  expect(await hold(read)).toBeLessThan(bound());
});

it('a verification', { timeout: 60_000 }, async () => {
  expect(await hold(() => api.verify({}, own))).toBeLessThan(bound());
});

it('a report and its files', { timeout: 60_000 }, async () => {
  const period = { from: day(3).slice(0, 10), to: day(1).slice(0, 10) };
  const make = async () => (await api.send('POST', '/reports/soc2', { ...own, body: { period } })) as Report;
  expect(await hold(make)).toBeLessThan(bound());
  const { id } = await make();
  for (const format of ['json', 'csv', 'markdown', 'html'])
    expect(
      await hold(() => server.request('GET', `/audit/v1/reports/${id}/export/${format}`, own)),
      format,
    ).toBeLessThan(bound());
});
