/** Tests that after an erasure no table holds anything of the person but the record of the erasure. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServer, type TestServer } from '../../../testing/server.ts';
import { until } from '../../../testing/until.ts';
import { anEvent, inTenant, tools } from '../testing.ts';

const lines: string[] = [];
let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['audit', 'keys'], log: { write: (line) => void lines.push(line) } });
  api = tools(server);
});
afterAll(() => server.close());

const traces = [
  'usr_erased_person',
  '198.51.100.77',
  'Agent-of-the-Person',
  'file-of-the-person',
  'note-of-the-person',
];
const [user_id, ip, user_agent, resource_id, note] = traces as [string, string, string, string, string];
const own = inTenant('remains');

/** The rows of all tables that hold a text in some column, as text, base64 or hex. */
async function tablesWith(text: string): Promise<string[]> {
  const tables = await server.db.sql<{ name: string }[]>`
    select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`;
  const forms = [text, Buffer.from(text).toString('hex'), Buffer.from(text).toString('base64').slice(0, -4)];
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await server.db.sql.unsafe<{ row: string }[]>(
      `select row_to_json(t)::text as row from ${name} as t`,
    );
    if (rows.some(({ row }) => forms.some((form) => row.includes(form)))) found.push(name);
  }
  return found;
}

it('nothing of the person is left', async () => {
  const event = { user_id, ip, user_agent, resource_id, reason: note, metadata: { note } };
  const self = { headers: { ...own.headers, 'X-User-ID': user_id } };
  await api.event(event, { headers: { ...own.headers, 'Idempotency-Key': 'header-key' } });
  await api.event({ ...event, subject_id: user_id, idempotency_key: `key-${user_id}` }, own);
  await api.batch([event, { ...event, subject_id: 'somebody else' }], own);
  await api.send('POST', '/retention', { ...self, body: { category: 'data', duration: '8760h' } });
  const from = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const to = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  const report = await api.send('POST', '/reports/hipaa', {
    headers: { ...own.headers, 'Idempotency-Key': 'header-key' },
    body: { period: { from, to }, generated_by: user_id },
  });
  expect(JSON.stringify(report)).toContain(note);
  // Subscribers get events only while they are fresh; then they are gone.
  await until(async () => (await server.db.sql`select from audit.outbox`).length === 0);
  await api.send('POST', '/erasures', {
    ...own,
    body: { subject_id: 'another', reason: `for ${user_id}`, requested_by: user_id },
  });
  await api.send('POST', '/erasures', {
    ...own,
    body: { subject_id: user_id, reason: 'asked', requested_by: 'dpo' },
  });
  expect(await tablesWith(user_id)).toEqual(['audit.erasures']);
  expect(await tablesWith(ip)).toEqual([]);
  expect(await tablesWith(user_agent)).toEqual([]);
  expect(await tablesWith(resource_id)).toEqual([]);
  // Whom the event with another subject concerns was not erased.
  expect(await tablesWith(note)).toEqual([]);
  const after = await api.send('GET', `/reports/${report.id}`, own);
  expect(after).toMatchObject({ generated_by: 'erased', stats: report.stats });
  const shown = JSON.stringify(
    after.sections[0].events.filter((one: { subject_id: unknown }) => one.subject_id === null),
  );
  for (const trace of traces) expect(shown).not.toContain(trace);
  expect(await api.verify({}, own)).toMatchObject({ valid: true });
});

it('the log says nothing of what events hold', () => {
  const log = lines.join('');
  for (const trace of [user_agent, resource_id, note]) expect(log).not.toContain(trace);
});

it('a row of keys or streams tells nothing without the master key', async () => {
  await api.event({ ...anEvent, user_id: 'visible-name' }, own);
  expect(await tablesWith('visible-name')).toEqual([]);
});
