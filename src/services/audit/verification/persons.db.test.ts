/** Tests that what a reader sees of persons is what is verified: keys and references that were changed behind the back of the triggers. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../../../generated/audit/types.ts';
import type { Sql } from '../../../db/index.ts';
import { newId } from '../../../lib/ids.ts';
import { testSealer, testServer, type TestServer } from '../../../testing/server.ts';
import { chained, owned } from '../append/chained.ts';
import { appendStore } from '../append/append.store.ts';
import { newEvent } from '../append/new-event.ts';
import { erasureStore } from '../erasures/erasures.store.ts';
import { refOf } from '../keys/refs.ts';
import { lockKeys, personOf } from '../keys/persons.ts';
import { recordHash, partDigest } from '../record/record.ts';
import { firstPart } from '../record/testing.ts';
import { createKnownStreams } from '../streams/known-streams.ts';
import { streamStore } from '../streams/streams.store.ts';
import { tamper } from '../testing.store.ts';
import { anEvent, inTenant, tools } from '../testing.ts';

let server: TestServer;
let api: ReturnType<typeof tools>;
beforeAll(async () => {
  server = await testServer({ services: ['audit', 'keys'], env: { PLINTH_JOBS_ENGINE: 'off' } });
  api = tools(server);
});
afterAll(() => server.close());

const about = { subject_id: 'bert', resource_id: 'file-1', metadata: { note: 'secret' } };

/** Events 1 and 3 of anna about bert, event 2 of carl, event 4 of nobody about a resource. */
async function chain(tenant: string) {
  const own = inTenant(tenant);
  const persons = [
    { user_id: 'anna', ...about },
    { user_id: 'carl' },
    { user_id: 'anna', ...about },
    { resource_id: 'file-2' },
  ];
  await api.batch(persons, own);
  const events = async (): Promise<AuditEvent[]> => (await api.list('?order=asc&limit=100', own)).events;
  const before = await events();
  expect(await api.verify({}, own)).toMatchObject({ valid: true, verified: 4, erased: 0, unreadable: 0 });
  const change = (run: (sql: Sql) => Promise<unknown>) => tamper(server.db, run);
  const erase = (subject_id: string) =>
    api.send('POST', '/erasures', { ...own, body: { subject_id, reason: 'r', requested_by: 'dpo' } });
  return { own, events, before, change, erase, verify: () => api.verify({}, own) };
}

const noActor = { user_id: null, ip: null, user_agent: null };
const lost = { erased: false, erasure_id: null, unreadable: true };

describe('what was not erased is not called erased', () => {
  it('when somebody removes the reference to who did it', async () => {
    const { events, before, change, verify } = await chain('no-ref');
    await change(
      (sql) => sql`update audit.events set actor_ref = null where tenant_id = 'no-ref' and sequence = 1`,
    );
    expect((await events())[0]).toEqual({ ...before[0], ...noActor, ...lost });
    expect(await verify()).toMatchObject({
      ...{ valid: false, erased: 0, unreadable: 1, unreadable_events: [1], gaps: [], tampered: [] },
    });
  });

  it('when somebody deletes the key of a person', async () => {
    const { events, before, change, verify, own } = await chain('no-key');
    await change(
      (sql) => sql`
        delete from audit.subject_keys where tenant_id = 'no-key'
          and ref = (select actor_ref from audit.events where tenant_id = 'no-key' and sequence = 1)`,
    );
    const after = await events();
    expect([after[0], after[1], after[2]]).toEqual([
      { ...before[0], ...noActor, ...lost },
      before[1],
      { ...before[2], ...noActor, ...lost },
    ]);
    expect(await verify()).toMatchObject({
      valid: false,
      erased: 0,
      unreadable: 2,
      unreadable_events: [1, 3],
    });
    expect(await api.verify({ from_seq: 2, to_seq: 2 }, own)).toMatchObject({ valid: true });
    // An event that comes later gets a new key, and does not hide what happened.
    await api.event({ user_id: 'anna' }, own);
    expect(await verify()).toMatchObject({ valid: false, unreadable: 2, verified: 5 });
  });

  it.each([
    [
      'swapped',
      (sql: Sql, tenant: string) => sql`
      update audit.subject_keys as one set wrapped = other.wrapped from audit.subject_keys as other
      where one.tenant_id = ${tenant} and other.tenant_id = ${tenant} and one.ref <> other.ref
        and one.ref in (select actor_ref from audit.events where tenant_id = ${tenant})
        and other.ref in (select actor_ref from audit.events where tenant_id = ${tenant})`,
      [1, 2, 3],
    ],
    [
      'replaced by garbage',
      (sql: Sql, tenant: string) => sql`
      update audit.subject_keys set wrapped = '\\x00' where tenant_id = ${tenant}
        and ref = (select actor_ref from audit.events where tenant_id = ${tenant} and sequence = 2)`,
      [2],
    ],
  ] as const)('when keys are %s', async (how, run, sequences) => {
    const tenant = `keys-${how.slice(0, 4)}`;
    const { change, verify } = await chain(tenant);
    await change((sql) => run(sql, tenant));
    expect(await verify()).toMatchObject({ valid: false, erased: 0, unreadable_events: sequences });
  });

  it('when an event is given to another person, whose key is there', async () => {
    const { events, change, verify } = await chain('other-ref');
    await change(
      (sql) => sql`
        update audit.events set actor_ref = (select actor_ref from audit.events where tenant_id = 'other-ref' and sequence = 2)
        where tenant_id = 'other-ref' and sequence = 1`,
    );
    expect((await events())[0]).toMatchObject({ ...noActor, ...lost });
    expect(await verify()).toMatchObject({ valid: false, unreadable_events: [1] });
  });

  it('when the key is there once more under another reference', async () => {
    const { change, verify } = await chain('copied');
    await change(async (sql) => {
      const ref = Buffer.alloc(16, 9);
      await sql`
        insert into audit.subject_keys (tenant_id, app_id, ref, wrapped)
        select tenant_id, app_id, ${ref}, wrapped from audit.subject_keys where tenant_id = 'copied'
          and ref = (select actor_ref from audit.events where tenant_id = 'copied' and sequence = 1)`;
      await sql`update audit.events set actor_ref = ${ref} where tenant_id = 'copied' and sequence = 1`;
    });
    expect(await verify()).toMatchObject({ valid: false, unreadable_events: [1] });
  });

  it('when it is marked as erased by the erasure of somebody else, or by one that never was', async () => {
    const { events, change, verify, erase } = await chain('forged');
    const { id } = await erase('carl');
    expect(await verify()).toMatchObject({ valid: true, erased: 1, unreadable: 0 });
    await change(
      (sql) => sql`
        update audit.events set actor_ref = null, erasure_id = ${id}, actor_erased_by = case sequence when 1 then 5 else 4 end
        where tenant_id = 'forged' and sequence in (1, 3)`,
    );
    const after = await events();
    expect([after[0], after[1], after[2]]).toMatchObject([
      lost,
      { erased: true, erasure_id: id, unreadable: false },
      lost,
    ]);
    expect(await verify()).toMatchObject({ valid: false, erased: 1, unreadable_events: [1, 3] });
  });
});

it('an erasure that the chain tells of covers what it erased, also when the marks are not made yet', async () => {
  const { events, verify, erase, change, own } = await chain('covered');
  const { id } = await erase('anna');
  const expected = [{ erased: true, erasure_id: id, unreadable: false }, { erased: false }, { erased: true }];
  expect((await events()).slice(0, 3)).toMatchObject(expected);
  expect(await verify()).toMatchObject({ valid: true, erased: 2, unreadable: 0 });
  await change(async (sql) => {
    const ref = Buffer.alloc(16, 7);
    await sql`update audit.events set actor_ref = ${ref}, actor_erased_by = null, erasure_id = null where tenant_id = 'covered' and sequence in (1, 3)`;
    await sql`update audit.erasures set ref = ${ref}, sequence = 4 where tenant_id = 'covered'`;
  });
  expect((await events()).slice(0, 3)).toMatchObject(expected);
  expect(await verify()).toMatchObject({ valid: true, erased: 2, unreadable: 0 });
  // Both persons of an event may be erased, one after the other.
  const last = await erase('bert');
  expect((await events())[0]).toMatchObject({
    erased: true,
    erasure_id: last.id,
    unreadable: false,
    metadata: null,
  });
  expect(await api.verify({}, own)).toMatchObject({ valid: true, erased: 2, unreadable: 0 });
});

it.each([
  ['nobody finds it any more', 1, null],
  ['another resource finds it', 3, Buffer.alloc(16, 5)],
  ['nobody finds what belongs to nobody', 4, null],
] as const)('an event whose reference to a resource was changed is named: %s', async (_, sequence, ref) => {
  const tenant = `resource-${sequence}`;
  const { verify, change } = await chain(tenant);
  await change(
    (sql) =>
      sql`update audit.events set resource_ref = ${ref} where tenant_id = ${tenant} and sequence = ${sequence}`,
  );
  expect(await verify()).toMatchObject({ valid: false, verified: 3, tampered: [sequence], unreadable: 0 });
});

it('an event of nobody that is given to a person is named, and so is one without its bytes', async () => {
  const { verify, change } = await chain('given');
  await change(async (sql) => {
    await sql`
      update audit.events set actor_ref = (select actor_ref from audit.events where tenant_id = 'given' and sequence = 1)
      where tenant_id = 'given' and sequence = 4`;
    await sql`update audit.events set actor = '' where tenant_id = 'given' and sequence = 2`;
  });
  expect(await verify()).toMatchObject({ valid: false, tampered: [2, 4] });
});

it.each([
  'update audit.events set actor_ref = null',
  'update audit.events set subject_ref = null, resource_ref = null',
  'update audit.events set resource_ref = null',
  'update audit.events set actor_ref = null, actor_erased_by = 1',
  'update audit.events set v = 1',
  'update audit.events set resource_proof = null',
])('the database itself refuses: %s', async (statement) => {
  const { verify } = await chain(`refused-${randomBytes(4).toString('hex')}`);
  await expect(server.db.transaction((sql) => sql.unsafe(statement))).rejects.toThrow(
    'events of the audit log are not changed or deleted',
  );
  expect(await verify()).toMatchObject({ valid: true });
});

describe('events that an earlier version recorded', () => {
  const absent = {
    ...{ user_id: null, actor_type: 'user', ip: null, user_agent: null, resource_id: null, subject_id: null },
    ...{ outcome: 'success' as const, severity: 'info' as const, reason: null, metadata: {} },
  };

  /** Records an event as version 1 did. */
  async function recordFirst(
    tenant: string,
    input: object,
    source: string | null = null,
    write = tamper,
  ): Promise<void> {
    const stream = await createKnownStreams({ db: server.db, sealer: testSealer }).of(tenant, 'default');
    await write(server.db, async (sql) => {
      const origin = { tenant, app: 'default', recordedBy: 'key:first', source };
      const event = newEvent({ ...anEvent, ...absent, ...input }, origin, '', Date.now());
      const theirs = owned({ event, stream });
      const { actorPerson, contentPerson } = theirs;
      const persons = [actorPerson, contentPerson].flatMap((one) => (one === undefined ? [] : [one]));
      const keys = await lockKeys(sql, testSealer, persons);
      const [head] = await streamStore(sql).lock([stream.id]);
      const salt = randomBytes(16);
      const now = chained(theirs, head!, keys, salt, Date.now());
      const part = (name: 'actor' | 'content', person: typeof actorPerson) =>
        firstPart(
          event[name],
          { part: name, eventId: event.id, salt },
          person && keys.get(personOf(person))!.key,
        );
      const [actor, content] = [part('actor', actorPerson), part('content', contentPerson)];
      const record = {
        ...now.event.record,
        v: 1 as const,
        ...{ actor: partDigest(actor.bytes), actor_key: actor.commitment?.toString('hex') ?? null },
        ...{ content: partDigest(content.bytes), content_key: content.commitment?.toString('hex') ?? null },
      };
      const hash = recordHash(record);
      await appendStore(sql).insert([{ ...now.event, record, hash, actor, content, resourceProof: null }]);
      await streamStore(sql).advance([{ ...now.head, head_hash: hash }]);
    });
  }

  it('stay readable and verifiable, before and after others, an erasure and a purge', async () => {
    const own = inTenant('first');
    await recordFirst('first', { user_id: 'anna', ...about });
    await recordFirst('first', { user_id: 'carl', category: 'auth', timestamp: '2026-01-01T00:00:00Z' });
    await recordFirst('first', { resource_id: 'file-2' });
    await api.event({ user_id: 'anna' }, own);
    const events = async () => (await api.list('?order=asc&limit=100', own)).events;
    const { id } = (await api.list('?user_id=anna&limit=1&order=asc', own)).events[0]!;
    expect(await api.get(id, own)).toMatchObject({ user_id: 'anna', ...about, unreadable: false });
    expect(await api.send('GET', `/events/${id}/record`, own)).toMatchObject({ record: { v: 1 } });
    expect(await api.verify({}, own)).toMatchObject({ valid: true, verified: 4, unreadable: 0, erased: 0 });
    await api.send('POST', '/erasures', {
      ...own,
      body: { subject_id: 'anna', reason: 'r', requested_by: 'd' },
    });
    expect(await events()).toMatchObject([{}, { erased: true }, { erased: false }, { erased: true }, {}]);
    await api.send('POST', '/retention', { ...own, body: { category: 'auth', duration: '720h' } });
    await api.send('POST', '/retention/enforce', own);
    expect(await api.verify({}, own)).toMatchObject({
      valid: true,
      verified: 7,
      unreadable: 0,
      erased: 2,
      purged: 1,
    });
  });

  /** Erases a person as version 1 did, and marks only so many of the events. */
  async function eraseFirst(tenant: string, person: string, events_affected: number, marked: number) {
    const { indexKey } = await createKnownStreams({ db: server.db, sealer: testSealer }).of(
      tenant,
      'default',
    );
    const ref = refOf(indexKey, 'person', person);
    const id = newId('erasure');
    await recordFirst(tenant, toldFirst(id, events_affected), 'audit');
    await tamper(server.db, async (sql) => {
      await sql`delete from audit.subject_keys where tenant_id = ${tenant} and ref = ${ref}`;
      const [{ head_seq } = { head_seq: 0 }] = await sql<{ head_seq: number }[]>`
        select head_seq from audit.streams where tenant_id = ${tenant}`;
      await erasureStore(sql).insert({
        ...{ id, app_id: 'default', tenant_id: tenant, subject_id: person, reason: 'r', requested_by: 'd' },
        ...{ events_affected, key_destroyed: true, ref, sequence: head_seq - 1 },
      });
      await sql`
        update audit.events set actor_ref = null, erasure_id = ${id} where tenant_id = ${tenant} and actor_ref = ${ref} and sequence <= ${marked}`;
      await sql`
        update audit.events set subject_ref = null, resource_ref = null, erasure_id = ${id}
        where tenant_id = ${tenant} and subject_ref = ${ref} and sequence <= ${marked}`;
    });
    return id;
  }

  const toldFirst = (erasure_id: string, events_affected: number) => ({
    ...{ action: 'erasure.completed', resource: 'erasure', resource_id: erasure_id, category: 'audit' },
    ...{ actor_type: 'system', metadata: { erasure_id, events_affected, key_destroyed: true } },
  });

  it('and erased are known to be so after the upgrade, also where only some were marked or the rest was purged', async () => {
    const own = inTenant('first-erased');
    for (const input of [
      { user_id: 'anna', ...about },
      { user_id: 'anna', category: 'auth', timestamp: '2026-01-01T00:00:00Z' },
      { user_id: 'anna' },
      { user_id: 'carl', subject_id: 'anna' },
      { user_id: 'dora' },
    ])
      await recordFirst('first-erased', input);
    await eraseFirst('first-erased', 'bert', 1, 5);
    await api.send('POST', '/retention', { ...own, body: { category: 'auth', duration: '720h' } });
    const anna = await eraseFirst('first-erased', 'anna', 4, 2);
    const file = await readFile(new URL('../migrations/0006_bound_parts.sql', import.meta.url), 'utf8');
    // Events of other tests are of version 2, of which the upgrade finds none.
    const backfill = file.slice(file.indexOf('update audit.events'));
    await server.db.transaction((sql) =>
      sql.unsafe(backfill.replace(/;\s*$/, " and events.tenant_id = 'first-erased'")),
    );
    const seen = async () =>
      (await api.list('?order=asc&limit=5', own)).events.map(({ erased, erasure_id, unreadable }) => [
        ...[erased, erasure_id, unreadable],
      ]);
    const all = [
      [true, anna, false],
      [true, anna, false],
      [true, anna, false],
      [true, anna, false],
    ];
    expect(await seen()).toEqual([...all, [false, null, false]]);
    expect(await api.verify({}, own)).toMatchObject({ valid: true, erased: 4, unreadable: 0, remarks: [] });
    await api.send('POST', '/retention/enforce', own);
    await api.send('POST', '/erasures', {
      ...own,
      body: { subject_id: 'nobody', reason: 'r', requested_by: 'd' },
    });
    expect(await seen()).toMatchObject([...all.slice(1), [false, null, false], {}]);
    expect(await api.verify({}, own)).toMatchObject({ valid: true, erased: 3, unreadable: 0, purged: 1 });
  });

  it('are not erased by a process of that version, whose erasure would not tell whose parts it took', async () => {
    await recordFirst('first-still', { user_id: 'anna' });
    const told = recordFirst('first-still', toldFirst(newId('erasure'), 1), 'audit', async (db, run) => {
      await db.transaction(run);
    });
    await expect(told).rejects.toThrow('store busy');
    expect(await api.verify({}, inTenant('first-still'))).toMatchObject({ valid: true, verified: 1 });
  });

  it('are unreadable without their keys, and no erasure covers more of them than it erased', async () => {
    const own = inTenant('first-lost');
    for (const user_id of ['anna', 'bert', 'carl']) await recordFirst('first-lost', { user_id });
    const { id } = await api.send('POST', '/erasures', {
      ...own,
      body: { subject_id: 'anna', reason: 'r', requested_by: 'd' },
    });
    await tamper(
      server.db,
      (sql) => sql`update audit.events set actor_ref = null where tenant_id = 'first-lost' and sequence = 2`,
    );
    expect(await api.verify({}, own)).toMatchObject({ valid: false, erased: 1, unreadable_events: [2] });
    await tamper(
      server.db,
      (sql) => sql`
        update audit.events set actor_ref = null, subject_ref = null, erasure_id = ${id as string}, actor_erased_by = 4, content_erased_by = 4
        where tenant_id = 'first-lost' and sequence = 2`,
    );
    expect(await api.verify({}, own)).toMatchObject({
      ...{ valid: false, unreadable: 0, remarks: [`2 events are marked as erased by ${id}, which erased 1`] },
    });
  });
});
