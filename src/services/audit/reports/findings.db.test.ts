import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Report, ReportFinding } from '../../../../generated/audit/types.ts';
import { type TestRequest, testServer, type TestServer } from '../../../testing/server.ts';
import { tamper } from '../testing.store.ts';
import { day, inTenant, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['audit', 'keys'] });
  api = tools(server);
});
afterAll(() => server.close());

let tenants = 0;
const tenant = () => inTenant(`findings-${(tenants += 1)}`);
const found = async (own: TestRequest, from: string, to: string): Promise<ReportFinding[]> => {
  const body = { title: 'Findings', period: { from, to } };
  return ((await api.send('POST', '/reports/custom', { ...own, body })) as Report).findings;
};
const minute = (at: number) => `10:${String(at).padStart(2, '0')}:00.000`;
const failed = (at: number, more = {}) => ({
  ...{ category: 'auth', action: 'signin_failed', outcome: 'failure', user_id: 'anna' },
  timestamp: day(3, minute(at)),
  ...more,
});
const [from, to] = [day(3).slice(0, 10), day(2).slice(0, 10)];

it.each([
  [10, 'anna', 1],
  [9, 'anna', 0],
  [18, 'half', 0],
])('%d failed sign-ins of %s within an hour give %d findings', async (count, who, expected) => {
  const own = tenant();
  const user = (at: number) => (who === 'half' ? `usr_${at % 2}` : who);
  await api.batch(
    Array.from({ length: count }, (_, at) => failed(at, { user_id: user(at) })),
    own,
  );
  const texts = (await found(own, from, to)).map(({ text }) => text);
  expect(texts.filter((text) => text.includes('sign-ins'))).toEqual(
    expected === 0 ? [] : [`${count} failed sign-ins of one person within an hour`],
  );
});

it('ten failed sign-ins in more than an hour are none', async () => {
  const own = tenant();
  await api.batch(
    Array.from({ length: 10 }, (_, at) =>
      failed(0, { timestamp: day(3, `${String(at).padStart(2, '0')}:00:00.000`) }),
    ),
    own,
  );
  expect(await found(own, from, to)).toEqual([]);
});

it('days without events are named, from the first day of the stream on and before today', async () => {
  const own = tenant();
  await api.batch([{ timestamp: day(6) }, { timestamp: day(4) }, {}], own);
  const texts = (await found(own, day(9).slice(0, 10), day(-1).slice(0, 10))).map(({ text }) => text);
  expect(texts).toEqual([5, 3, 2, 1].map((ago) => `no events on ${day(ago).slice(0, 10)}`));
});

it('at most fifty days are named', async () => {
  const own = tenant();
  await api.event({ timestamp: day(70) }, own);
  const findings = await found(own, day(70).slice(0, 10), day(0).slice(0, 10));
  expect([findings.length, findings.at(-1)]).toEqual([
    51,
    { severity: 'info', control: null, text: 'no events on 19 more days', count: 19 },
  ]);
});

it('a chain that is not intact is the first finding', async () => {
  const own = tenant();
  await api.batch([failed(1), failed(2), failed(3, { severity: 'critical' })], own);
  await tamper(
    server.db,
    (sql) => sql`delete from audit.events where tenant_id = ${own.headers!['X-Tenant-ID']!} and sequence = 2`,
  );
  expect(await found(own, from, to)).toMatchObject([
    { severity: 'critical', text: 'the chain is not intact: 1 events are missing, 0 were changed', count: 1 },
    { severity: 'critical', text: '1 critical events' },
  ]);
});
