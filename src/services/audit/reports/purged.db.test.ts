/** Tests what a report says of a period of which events were purged. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Report } from '../../../../generated/audit/types.ts';
import { type TestRequest, testServer, type TestServer } from '../../../testing/server.ts';
import { tamper } from '../testing.store.ts';
import { day, inTenant, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['audit', 'keys'], env: { PLINTH_JOBS_ENGINE: 'off' } });
  api = tools(server);
});
afterAll(() => server.close());

const date = (daysAgo: number) => day(daysAgo).slice(0, 10);
const report = (own: TestRequest, from: number, to: number, categories = ['auth', 'data']): Promise<Report> =>
  api.send('POST', '/reports/custom', {
    ...own,
    body: { title: 'Purged', period: { from: date(from), to: date(to) }, categories },
  });
const textsOf = ({ findings }: Report) => findings.map(({ text }) => text);

/** Events of the days 60, 59 and 57 ago, of which those in `auth` are purged. */
async function purgedTenant(name: string, archive: boolean): Promise<TestRequest> {
  const own = inTenant(name);
  await api.batch(
    [60, 60, 59, 57].map((ago) => ({ timestamp: day(ago), category: 'auth', user_id: 'anna' })),
    own,
  );
  await api.event({ timestamp: day(62) }, own);
  await api.send('POST', '/retention', { ...own, body: { category: 'auth', duration: '720h', archive } });
  await api.send('POST', '/retention/enforce', own);
  return own;
}

it('a report on events that were purged says how many there were, and verifies what they left', async () => {
  const own = await purgedTenant('purged', false);
  const made = await report(own, 61, 56);
  expect(made.stats).toMatchObject({ total_events: 0, purged_events: 4 });
  expect(made.verification).toMatchObject({
    valid: true,
    verified: 4,
    purged: 4,
    first_event: 1,
    last_event: 4,
  });
  expect(textsOf(made)).toEqual([
    '4 events of the period were purged',
    'auth: no evidence is left, up to 4 events were purged',
    'data: no evidence',
    `no events on ${date(61)}`,
  ]);
  const { text } = await server.request('GET', `/audit/v1/reports/${made.id}/export/markdown`, own);
  expect(text).toContain('| Purged | 4 |');
  expect(text).toContain('4 events verified, from 1 to 4, of which 4 were purged');
});

it('a period of which a run purged events besides others is told as such, and other periods are not concerned', async () => {
  const own = await purgedTenant('purged-partly', false);
  expect(textsOf(await report(own, 61, 59, ['auth']))).toEqual([
    'up to 4 events of the period were purged',
    'auth: no evidence is left, up to 4 events were purged',
    `no events on ${date(61)}`,
  ]);
  const before = await report(own, 62, 61, ['data']);
  expect([before.stats.purged_events, textsOf(before)]).toEqual([0, []]);
});

it('an archive tells of a run that does not say when its events happened, and without one nothing is claimed', async () => {
  const forget = (sql: Parameters<Parameters<typeof tamper>[1]>[0], tenant: string) => sql`
    update audit.events
    set content = '\\x00'::bytea || convert_to(regexp_replace(
      convert_from(substring(content from 2), 'UTF8'), ',("category"|"from_timestamp"|"to_timestamp"):"[^"]*"', '', 'g'
    ), 'UTF8')
    where tenant_id = ${tenant} and action = 'retention.purged'`;
  const told = await purgedTenant('purged-archived', true);
  const untold = await purgedTenant('purged-untold', false);
  for (const tenant of ['purged-archived', 'purged-untold'])
    await tamper(server.db, (sql) => forget(sql, tenant));
  const texts = async (own: TestRequest) => textsOf(await report(own, 58, 50, ['data']));
  expect(await texts(told)).not.toContain('data: no evidence is left, up to 4 events were purged');
  expect(await texts(told)).toContain(`no events on ${date(56)}`);
  expect(await texts(untold)).toContain('data: no evidence is left, up to 4 events were purged');
  expect(await texts(untold)).not.toContain(`no events on ${date(56)}`);
});

it('a report on a tenant that never was says that nothing was ever recorded', async () => {
  const made = await report(inTenant('never-was'), 3, 1, []);
  expect(textsOf(made)).toEqual(['nothing was ever recorded for this tenant', 'All events: no evidence']);
});
