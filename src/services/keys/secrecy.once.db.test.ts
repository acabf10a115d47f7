import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testServer, type TestResponse, type TestRequest, type TestServer } from '../../testing/server.ts';

let server: TestServer;
const lines: string[] = [];
const answers: { what: string; text: string }[] = [];
beforeAll(async () => {
  server = await testServer({ services: ['keys'], log: { write: (line) => void lines.push(line) } });
});
afterAll(() => server.close());

async function call(verb: string, path: string, options: TestRequest = {}): Promise<TestResponse> {
  const answer = await server.request(verb, `/keys/v1${path}`, options);
  answers.push({
    what: `${verb} ${path.replace(/\w+_\w{26}/, ':id')}`,
    text: `${answer.text} ${JSON.stringify([...answer.headers])}`,
  });
  return answer;
}

/** Every row of every table of the database, as text. */
async function everything(): Promise<{ table: string; text: string }[]> {
  const tables = await server.db.sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('keys', 'plinth')`;
  const rows = tables.map(async ({ name }) => {
    const found = await server.db.sql<
      { text: string }[]
    >`select t::text as text from ${server.db.sql.unsafe(name)} t`;
    return found.map(({ text }) => ({ table: name, text }));
  });
  return (await Promise.all(rows)).flat();
}

it('a raw key is in the one answer that makes it and nowhere else; of its hash only the column of hashes knows', async () => {
  const body = { name: 'Reporting job', scopes: ['keys:*'], metadata: { plan: 'pro' } };
  const issued = await call('POST', '/keys', { body, headers: { 'idempotency-key': 'once' } });
  const { id } = issued.body.key;
  const rotated = await call('POST', `/keys/${id}/rotate`, { body: { reason: 'scheduled' } });
  const rawKeys: string[] = [issued.body.raw_key, rotated.body.raw_key];

  expect((await call('POST', '/keys', { body, headers: { 'idempotency-key': 'once' } })).status).toBe(409);
  for (const raw_key of rawKeys) {
    await call('POST', '/keys/validate', { body: { raw_key } });
    await call('GET', '/whoami', { apiKey: raw_key });
    await call('GET', '/whoami', { token: raw_key });
    await call('POST', '/keys/validate', { body: { raw_key, bogus: raw_key } });
    await call('POST', '/keys/validate', { body: `{"raw_key": "${raw_key}"` });
    await call('GET', `/keys?scope=${raw_key}`);
    await call('GET', `/keys/${raw_key}`);
    await call('GET', '/whoami', { apiKey: `${raw_key}x` });
  }
  await call('GET', `/keys/${id}`);
  await call('GET', '/keys');
  await call('GET', `/keys/${id}/rotations`);
  await call('PATCH', `/keys/${id}`, { body: { name: 'Other' } });
  await call('GET', '/usage');
  await call('GET', `/keys/${id}/usage`);
  await call('POST', `/keys/${id}/revoke`);
  await call('DELETE', `/keys/${id}`);

  const rows = await everything();
  for (const [index, raw] of rawKeys.entries()) {
    const seen = answers.filter(({ text }) => text.includes(raw)).map(({ what }) => what);
    expect(seen).toEqual([['POST /keys'], ['POST /keys/:id/rotate']][index]);
    expect(lines.filter((line) => line.includes(raw))).toEqual([]);
    expect(rows.filter(({ text }) => text.includes(raw))).toEqual([]);

    const hash = createHash('sha256').update(raw).digest('hex');
    expect(answers.filter(({ text }) => text.includes(hash))).toEqual([]);
    expect(lines.filter((line) => line.includes(hash))).toEqual([]);
    expect(rows.filter(({ text }) => text.includes(hash)).map(({ table }) => table)).toEqual([
      'keys.secrets',
    ]);
  }
  expect(lines.length).toBeGreaterThan(0);
});

it('the repeat of a creation names the key that the first one made', async () => {
  const options = { body: { name: 'Once' }, headers: { 'idempotency-key': 'named' } };
  const first = await server.request('POST', '/keys/v1/keys', options);
  const again = await server.request('POST', '/keys/v1/keys', options);
  expect(again.status).toBe(409);
  expect(again.body.error).toContain(first.body.key.id);
});
