import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runSweep } from '../../../db/sweeps.ts';
import { createSealer } from '../../../lib/seal.ts';
import { masterKey, type TestRequest, testServer, type TestServer } from '../../../testing/server.ts';
import { indexKeySweeps } from '../streams/known-streams.ts';
import { inTenant, tools } from '../testing.ts';
import { personKeySweeps } from './persons.ts';
import { personStore } from './persons.store.ts';

const other = Buffer.alloc(32, 8);
const log = pino({ level: 'silent' });

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['audit', 'keys'] });
  api = tools(server);
});
afterAll(() => server.close());

/** Seals everything anew, as a server does whose master key is the first of these, and that knows the second one. */
async function sealAnew(master: Buffer, previous: Buffer): Promise<void> {
  const deps = { db: server.db, log, sealer: createSealer(master, previous) };
  for (const sweep of [...personKeySweeps(deps), ...indexKeySweeps(deps)])
    await runSweep({ ...sweep, batch: 2 });
}

const erase = (subject_id: string, own: TestRequest) =>
  api.send('POST', '/erasures', { ...own, body: { subject_id, reason: 'asked', requested_by: 'dpo' } });

const sealedByOther = () =>
  personStore(server.db.sql).sealedBy(createSealer(masterKey, other).previousId!, undefined, 100);

it('after a change of the master key everything is sealed anew, so that the one before can be forgotten', async () => {
  const streams = ['one', 'two', 'three'].map((name) => inTenant(`anew-${name}`));
  const stored = await Promise.all(
    streams.flatMap((own) =>
      ['anna', 'bert', 'carl'].map((user_id) => api.event({ user_id, subject_id: 'dora' }, own)),
    ),
  );
  await sealAnew(other, masterKey);
  expect(await sealedByOther()).toHaveLength(12);
  await sealAnew(masterKey, other);
  expect(await sealedByOther()).toEqual([]);
  // What the process remembers would open them anyway.
  await server.restart();
  for (const event of stored) expect(await api.get(event.id, inTenant(event.tenant_id))).toEqual(event);
  for (const own of streams) {
    expect(await api.list('?user_id=anna', own)).toMatchObject({ total: 1 });
    const later = await api.event({ user_id: 'anna', subject_id: 'dora' }, own);
    expect(await api.get(later.id, own)).toEqual(later);
  }
});

it('whoever is erased stays erased, also when that happens while keys are sealed anew', async () => {
  const own = inTenant('erased');
  const events = [await api.event({ user_id: 'anna' }, own), await api.event({ user_id: 'bert' }, own)];
  await erase('anna', own);
  const store = personStore(server.db.sql);
  const read = await store.sealedBy(createSealer(other, masterKey).previousId!, undefined, 100);
  expect(read.filter(({ tenant_id }) => tenant_id === 'erased')).toHaveLength(1);
  await erase('bert', own);
  // Whatever is recorded afterwards has another key, which nothing read before may replace.
  const later = await api.event({ user_id: 'bert' }, own);
  await store.replace(read.map((key) => ({ ...key, anew: key.sealed })));
  await sealAnew(other, masterKey);
  await sealAnew(masterKey, other);
  for (const { id } of events)
    expect(await api.get(id, own)).toMatchObject({ user_id: null, metadata: null, erased: true });
  expect(await api.get(later.id, own)).toEqual(later);
  expect(await server.db.sql`select from audit.subject_keys where tenant_id = 'erased'`).toHaveLength(1);
});

it('a key that somebody damaged does not keep others from being sealed anew', async () => {
  const own = inTenant('damaged');
  for (const user_id of ['anna', 'bert', 'carl']) await api.event({ user_id }, own);
  await server.db.sql`
    update audit.subject_keys set wrapped = wrapped || '\\x00' where (tenant_id, app_id, ref) in (
      select tenant_id, app_id, ref from audit.subject_keys where tenant_id = 'damaged' limit 1
    )`;
  await sealAnew(other, masterKey);
  const rows = await sealedByOther();
  expect(rows.filter(({ tenant_id }) => tenant_id === 'damaged')).toHaveLength(2);
  await sealAnew(masterKey, other);
});

describe('without the master key that sealed the keys', () => {
  const message = 'audit: a key was sealed with a master key that this server does not have';

  it('events of the person are refused with a clear error, and nothing that was recorded is lost', async () => {
    const own = inTenant('without');
    const anna = await api.event({ user_id: 'anna' }, own);
    const nobody = await api.event({}, own);
    const sealed = await server.db.sql<
      { wrapped: Buffer }[]
    >`select wrapped from audit.subject_keys where tenant_id = 'without'`;
    await server.db
      .sql`update audit.subject_keys set wrapped = ${createSealer(other).seal('audit/person/v1', 'without', Buffer.alloc(32))} where tenant_id = 'without'`;
    expect(await api.refusal('GET', `/events/${anna.id}`, own)).toEqual([500, message]);
    expect(await api.refusal('GET', '/events', own)).toEqual([500, message]);
    const body = (user_id: string) => ({
      ...own,
      body: { action: 'a', resource: 'r', category: 'data', user_id },
    });
    // Those that share its transaction do not share its fate.
    const answers = await Promise.all(
      ['bert', 'anna', 'carl', 'anna'].map((user) => server.request('POST', '/audit/v1/events', body(user))),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 500, 201, 500]);
    expect(answers[1]!.body).toEqual({ error: message });
    expect(await api.get(nobody.id, own)).toEqual(nobody);
    expect(await api.verify({}, own)).toMatchObject({ valid: false, verified: 4, unreadable: 1 });
    await server.db
      .sql`update audit.subject_keys set wrapped = ${sealed[0]!.wrapped} where tenant_id = 'without' and ref = (
      select actor_ref from audit.events where id = ${anna.id})`;
    expect(await api.get(anna.id, own)).toEqual(anna);
    expect(await api.verify({}, own)).toMatchObject({ valid: true, verified: 4, unreadable: 0 });
    expect(await api.event({ user_id: 'anna' }, own)).toMatchObject({ sequence: 5 });
  });

  it('a whole stream is refused with the same error until the key is back', async () => {
    const own = inTenant('stream');
    const event = await api.event({ user_id: 'anna' }, own);
    await sealAnew(other, masterKey);
    await server.restart();
    expect(await api.refusal('GET', '/events', own)).toEqual([500, message]);
    expect(
      await api.refusal('POST', '/events', {
        ...own,
        body: { action: 'a', resource: 'r', category: 'data' },
      }),
    ).toEqual([500, message]);
    await sealAnew(masterKey, other);
    expect(await api.get(event.id, own)).toEqual(event);
    expect(await api.verify({}, own)).toMatchObject({ valid: true, verified: 1 });
  });
});
