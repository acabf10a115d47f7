import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditEvent, Report } from '../../../../generated/audit/types.ts';
import { type TestRequest, testServer, type TestServer } from '../../../testing/server.ts';
import { keepEvents } from '../testing.store.ts';
import { day, inTenant, tools } from '../testing.ts';
import { sectionOf } from './testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  // The sweep that enforces policies would come before the test.
  server = await testServer({ services: ['audit', 'keys'], env: { PLINTH_JOBS_ENGINE: 'off' } });
  api = tools(server);
  await keepEvents(server.db);
});
afterAll(() => server.close());

const period = { from: day(30).slice(0, 10), to: day(10).slice(0, 10) };
const report = (kind: string, body: object, own: TestRequest): Promise<Report> =>
  api.send('POST', `/reports/${kind}`, { ...own, body: { period, ...body } });

const own = inTenant('reports');
const categories = ['auth', 'access', 'data', 'config', 'deployment', 'ai', 'ml', 'other'];
const actions = [
  ...['user.created', 'session.created', 'signin', 'record.deleted', 'delete', 'decision.made', 'prediction'],
  ...['run.done', 'scan.blocked', 'review', 'checkpoint.passed', 'xuser.created', 'mfa_removed', 'purged'],
];

/** Everything in the period, in the order of the stream. */
let all: AuditEvent[];
beforeAll(async () => {
  const event = (at: number) => ({
    timestamp: day(32 - (at % 24), `12:${String(at % 60).padStart(2, '0')}:00.000`),
    category: categories[at % categories.length]!,
    action: actions[at % actions.length]!,
    outcome: at % 7 === 0 ? 'failure' : at % 11 === 0 ? 'denied' : 'success',
    severity: at % 13 === 0 ? 'critical' : at % 5 === 0 ? 'warning' : 'info',
    user_id: at % 4 === 0 ? null : `usr_${at % 9}`,
    resource_id: at % 3 === 0 ? 'credit-scoring' : null,
    metadata: { at },
  });
  await api.batch(
    Array.from({ length: 400 }, (_, at) => event(at)),
    own,
  );
  all = (await api.list(`?limit=1000&order=asc&from=${period.from}&to=${period.to}`, own)).events;
  expect(all.length).toBeGreaterThan(200);
});

const matches = (pattern: string) => new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
const among =
  (...names: string[]) =>
  ({ category }: AuditEvent) =>
    names.includes(category);
const acts =
  (...patterns: string[]) =>
  ({ action }: AuditEvent) =>
    patterns.some((one) => matches(one).test(action));
const both =
  (...tests: ((event: AuditEvent) => boolean)[]) =>
  (event: AuditEvent) =>
    tests.every((test) => test(event));
const severe = ({ severity }: AuditEvent) => severity !== 'info';

const signIns = acts('user.*', 'session.*', 'mfa*', 'sign*', 'password*', 'login*', 'logout*');
const standards = {
  soc2: [
    ['CC6.1', 'Logical access', among('auth', 'access')],
    ['CC6.2', 'Registration and authentication', both(among('auth'), signIns)],
    ['CC6.3', 'Access to data', among('data')],
    ['CC7.2', 'Security incidents', severe],
    ['CC8.1', 'Change management', among('config', 'deployment')],
  ],
  hipaa: [
    ['§164.312(b)', 'PHI access', among('data')],
    ['§164.312(d)', 'Authentication', among('auth')],
    ['§164.308(a)(6)', 'Security incidents', severe],
    ['§164.310(d)(2)', 'Disposal', acts('*.deleted', '*.purged', 'delete', 'purge', 'erasure.*')],
  ],
  euaiact: [
    ['Art. 12', 'Record keeping', among('ai', 'ml')],
    ['Art. 13', 'Decisions', acts('decision*', 'prediction*', 'run.*', 'scan.*')],
    ['Art. 15, 73', 'Incidents', both(among('ai', 'ml'), severe)],
    ['Art. 10', 'Data governance', among('data')],
    ['Art. 14', 'Human oversight', acts('review*', 'override*', 'approval*', 'checkpoint.*')],
  ],
} as const;

describe.each(Object.keys(standards) as (keyof typeof standards)[])('the report %s', (kind) => {
  it('has the numbers of the events in its period', async () => {
    const made = await report(kind, {}, own);
    expect(made).toMatchObject({
      ...{ type: kind, tenant_id: 'reports', app_id: 'default', format: 'json', generated_by: 'root' },
      period: { from: `${period.from}T00:00:00.000Z`, to: `${period.to}T00:00:00.000Z` },
      stats: {
        total_events: all.length,
        critical_events: all.filter(({ severity }) => severity === 'critical').length,
        failed_events: all.filter(({ outcome }) => outcome === 'failure').length,
        denied_events: all.filter(({ outcome }) => outcome === 'denied').length,
      },
      verification: {
        ...{ valid: true, gaps: [], tampered: [] },
        first_event: Math.min(...all.map(({ sequence }) => sequence)),
        last_event: Math.max(...all.map(({ sequence }) => sequence)),
      },
    });
    const sections = made.sections.map(({ notes, ...section }) => ({ ...section, notes: notes !== '' }));
    expect(sections).toEqual(
      standards[kind].map(([control, title, belongs]) => ({
        ...{ control, title, notes: true },
        ...sectionOf(all.filter((event) => belongs(event))),
      })),
    );
    expect(await api.send('GET', `/reports/${made.id}`, own)).toEqual(made);
  });
});

describe('a report', () => {
  it('on an AI system has the events about it only, and names it', async () => {
    const made = await report('euaiact', { system: 'credit-scoring' }, own);
    const about = all.filter(({ resource_id }) => resource_id === 'credit-scoring');
    expect(made.title).toBe('EU AI Act transparency report: credit-scoring');
    expect(made.stats.total_events).toBe(about.length);
    expect(made.sections[0]!.stats).toEqual(sectionOf(about.filter(among('ai', 'ml'))).stats);
  });

  it('of one’s own has a section for each category, or one with everything', async () => {
    const made = await report(
      'custom',
      { title: 'Ours', categories: ['data', 'none'], generated_by: 'usr_7' },
      own,
    );
    expect(made).toMatchObject({ title: 'Ours', type: 'custom', generated_by: 'usr_7' });
    expect(made.sections).toEqual([
      { title: 'data', control: null, notes: '', ...sectionOf(all.filter(among('data'))) },
      { title: 'none', control: null, notes: '', ...sectionOf([]) },
    ]);
    const whole = await report('custom', { title: 'All' }, own);
    expect(whole.sections.map(({ title, stats }) => [title, stats.total])).toEqual([
      ['All events', all.length],
    ]);
  });

  it('is listed without its sections, recorded in the chain, and told to subscribers', async () => {
    const made = await report('soc2', {}, own);
    const [first] = (await api.send('GET', '/reports?limit=1', own)) as Report[];
    expect(first).toEqual({ ...made, sections: [] });
    const [act] = (await api.list('?action=report.created&limit=1', own)).events;
    expect(act).toMatchObject({ resource: 'report', resource_id: made.id, metadata: { type: 'soc2' } });
    const told = await server.db.sql`select type, data from audit.outbox where subject = ${made.id}`;
    expect(told).toEqual([{ type: 'audit.report.created', data: { report_id: made.id, type: 'soc2' } }]);
  });

  it('shows at most 500 events of a section', async () => {
    const many = inTenant('many');
    await api.batch(
      Array.from({ length: 510 }, () => ({ timestamp: day(20) })),
      many,
    );
    const { id, sections } = await report('custom', { title: 'Many' }, many);
    const [section] = sections;
    const { text } = await server.request('GET', `/audit/v1/reports/${id}/export/csv`, many);
    expect([text.split('\r\n').length, text.split('\r\n').at(-2)]).toEqual([
      503,
      'All events,Shows 500 of 510 events.,,,,,,,,,,',
    ]);
    expect([section!.events.length, section!.events_truncated, section!.stats.total]).toEqual([
      500,
      true,
      510,
    ]);
  });

  it.each<[object, number, string]>([
    [{ period: { from: '2025-01-01', to: '2026-03-01' } }, 400, 'period is longer than 400 days'],
    [{ period: { from: '2026-01-01', to: '2026-01-01' } }, 400, 'period.to: must be after from'],
    [
      { period: { from: '2026-02-30', to: '2026-04-01' } },
      400,
      'period.from: must be a time such as 2026-11-20T09:30:00Z',
    ],
    [{ period: undefined }, 400, 'period: required'],
    [{ app_id: 'another' }, 403, "app_id: not the caller's own"],
    [{ tenant_id: 'another' }, 403, "tenant_id: not the caller's own"],
  ])('is refused for %j', async (body, status, message) => {
    expect(await api.refusal('POST', '/reports/soc2', { ...own, body: { period, ...body } })).toEqual([
      status,
      `audit: ${message}`,
    ]);
  });

  it('in another format is not known', async () => {
    const { id } = await report('soc2', {}, own);
    expect((await api.refusal('GET', `/reports/${id}/export/pdf`, own))[0]).toBe(400);
  });

  it('is not made while two others are', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 6 }, () =>
        server.request('POST', '/audit/v1/reports/soc2', { ...own, body: { period } }),
      ),
    );
    const refused = statuses.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(statuses.filter(({ status }) => status === 201)).toHaveLength(6 - refused.length);
    expect([refused[0]!.body, refused[0]!.headers.get('retry-after')]).toEqual([
      { error: 'audit: too many reports are running' },
      '1',
    ]);
  });
});

it('an old report shows nothing of whom was erased or what was purged since, and its numbers stay', async () => {
  const aged = inTenant('aged');
  await api.batch(
    [
      {
        timestamp: day(20),
        user_id: 'anna',
        ip: '203.0.113.9',
        resource_id: 'anna-file',
        reason: 'anna-reason',
      },
      { timestamp: day(29), user_id: 'bert' },
    ],
    aged,
  );
  const made = await report('custom', { title: 'Aged' }, aged);
  await api.send('POST', '/erasures', {
    ...aged,
    body: { subject_id: 'anna', reason: 'r', requested_by: 'd' },
  });
  const read = async (): Promise<Report> => api.send('GET', `/reports/${made.id}`, aged);
  expect((await read()).sections[0]!.events[0]).toMatchObject({
    erased: true,
    user_id: null,
    ip: null,
    metadata: null,
  });
  for (const format of ['json', 'csv', 'markdown', 'html']) {
    const { text } = await server.request('GET', `/audit/v1/reports/${made.id}/export/${format}`, aged);
    expect(text).not.toMatch(/anna|203\.0\.113\.9/);
    expect(text).toContain('bert');
  }
  await api.send('POST', '/retention', { body: { category: 'data', duration: '600h' } });
  const tenants = await server.db.sql`
    update audit.retention_policies set tenant_id = 'aged' where duration = '600h' returning id`;
  await api.send('POST', '/retention/enforce', aged);
  const after = await read();
  expect(tenants).toHaveLength(1);
  expect(after.sections[0]).toMatchObject({ events_purged: 1, stats: { total: 2, persons: 2 } });
  expect(JSON.stringify(after)).not.toContain('bert');
});
